package dev.carillon.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Notes how each case of {@link StoreTck} ended and writes {@code target/tck/<store>.tsv}, one line
 * a case: store, mode, id, title, result, repetitions, the reason where it does not apply or
 * failed, and how many milliseconds it took. {@link TckTable} reads them.
 */
final class TckReport implements TestWatcher, AfterAllCallback {

  static final String PASSED = "pass";
  static final String FAILED = "FAIL";
  static final String NOT_APPLICABLE = "n/a";

  private static final Path FOLDER = Path.of("target", "tck");
  private static final int MAX_REASON = 300;

  private static final Map<String, List<String>> LINES = new ConcurrentHashMap<>();

  @Override
  public void testSuccessful(ExtensionContext context) {
    note(context, PASSED, "");
  }

  @Override
  public void testAborted(ExtensionContext context, Throwable cause) {
    note(context, NOT_APPLICABLE, String.valueOf(cause.getMessage()));
  }

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    note(context, FAILED, String.valueOf(cause));
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    note(context, FAILED, "disabled: " + reason.orElse("no reason given"));
  }

  private static void note(ExtensionContext context, String result, String reason) {
    Case annotation = context.getRequiredTestMethod().getAnnotation(Case.class);
    if (annotation == null || !(context.getTestInstance().orElse(null) instanceof StoreTck tck)) {
      return;
    }
    String store = tck.bench().store().info().kind();
    LINES
        .computeIfAbsent(store, key -> new ArrayList<>())
        .add(
            String.join(
                "\t",
                store,
                tck.mode().name().toLowerCase(Locale.ROOT),
                annotation.id(),
                annotation.title(),
                result,
                Integer.toString(tck.count()),
                oneLine(reason),
                Long.toString(tck.elapsedMillis())));
  }

  private static String oneLine(String text) {
    String line = text.strip().replaceAll("\\s+", " ");
    return line.length() <= MAX_REASON ? line : line.substring(0, MAX_REASON) + "…";
  }

  @Override
  public void afterAll(ExtensionContext context) {
    LINES.forEach(
        (store, lines) -> {
          try {
            Files.createDirectories(FOLDER);
            Files.write(FOLDER.resolve(store + ".tsv"), lines);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
