package dev.carillon.bench;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the figures were measured on. */
final class Machine {
  private static final long MEBIBYTE = 1 << 20;

  private Machine() {}

  /** What this process has worked. */
  static long cpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean os
        ? os.getProcessCpuTime()
        : 0;
  }

  static Map<String, Object> settings() {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("jdk", System.getProperty("java.runtime.version"));
    settings.put("cores", Runtime.getRuntime().availableProcessors());
    settings.put("max heap MiB", Runtime.getRuntime().maxMemory() / MEBIBYTE);
    settings.put("jvm options", String.join(" ", tuned()));
    settings.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    settings.put(
        "load average at start",
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    return settings;
  }

  private static List<String> tuned() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("-X"))
        .toList();
  }
}
