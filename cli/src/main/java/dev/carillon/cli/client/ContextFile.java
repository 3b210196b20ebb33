package dev.carillon.cli.client;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The file of contexts: servers by name, with namespace and token. It is readable by its owner
 * only: with a token in it, a file that others may read is refused. Written as a whole.
 */
public final class ContextFile {
  private static final JsonMapper MAPPER = new JsonMapper();
  private static final Set<PosixFilePermission> OWNER =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private final Path file;

  private ContextFile(Path file) {
    this.file = file;
  }

  /**
   * A server by name.
   *
   * @param server its address
   * @param namespace whose jobs; null for that of the command
   * @param token null for none, or that of the environment
   * @param trusted a file of trusted certificates (PEM); null for those of Java
   */
  public record Context(
      String server,
      @Nullable String namespace,
      @Nullable String token,
      @Nullable String trusted) {}

  /**
   * What the file holds.
   *
   * @param current the name of the context that is used where nothing names one; null for none
   * @param contexts all, by name
   */
  public record Contexts(@Nullable String current, Map<String, Context> contexts) {
    /** None. */
    public static Contexts none() {
      return new Contexts(null, Map.of());
    }

    /** With a context, new or another one of that name. */
    public Contexts with(String name, Context context) {
      Map<String, Context> all = new LinkedHashMap<>(contexts);
      all.put(name, context);
      return new Contexts(current == null ? name : current, all);
    }

    /** Without a context. */
    public Contexts without(String name) {
      Map<String, Context> all = new LinkedHashMap<>(contexts);
      all.remove(name);
      return new Contexts(name.equals(current) ? null : current, all);
    }

    /** With another current one. */
    public Contexts use(String name) {
      get(name);
      return new Contexts(name, contexts);
    }

    /** A context by its name. */
    public Context get(String name) {
      Context context = contexts.get(name);
      if (context == null) {
        throw CommandFailure.invalid("context", name, "one of " + contexts.keySet());
      }
      return context;
    }
  }

  /** The file that the environment names: CARILLON_CONTEXTS, else one below the home folder. */
  public static ContextFile of(Surroundings surroundings) {
    String named = surroundings.variable("CARILLON_CONTEXTS");
    if (!named.isEmpty()) {
      return new ContextFile(surroundings.folder().resolve(named));
    }
    String config = surroundings.variable("XDG_CONFIG_HOME");
    Path folder =
        config.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".config")
            : surroundings.folder().resolve(config);
    return new ContextFile(folder.resolve("carillon").resolve("contexts.json"));
  }

  /** Where it is. */
  public Path path() {
    return file;
  }

  /** What it holds; none if it is not there. */
  public Contexts read() {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      return Contexts.none();
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, file + ": cannot be read", e);
    }
    Contexts contexts = parse(bytes);
    if (contexts.contexts().values().stream().anyMatch(context -> context.token() != null)) {
      checkMode();
    }
    return contexts;
  }

  private void checkMode() {
    try {
      Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
      if (!OWNER.containsAll(mode)) {
        throw new CommandFailure(
            ExitCode.DENIED,
            "%s: mode %s, with tokens in it (expected: readable by its owner only; chmod 600 %s)"
                .formatted(file, PosixFilePermissions.toString(mode), file));
      }
    } catch (UnsupportedOperationException e) {
      // Windows: the folder of the user is closed to others.
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, file + ": its mode cannot be read", e);
    }
  }

  private Contexts parse(byte[] bytes) {
    JsonNode root;
    try {
      root = MAPPER.readTree(bytes);
    } catch (JacksonException e) {
      throw new CommandFailure(
          ExitCode.FAILED, file + ": no JSON (expected: as context set writes it)", e);
    }
    Map<String, Context> contexts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> each : root.path("contexts").properties()) {
      JsonNode context = each.getValue();
      String server = text(context, "server");
      if (server == null) {
        throw new CommandFailure(
            ExitCode.FAILED,
            "%s: context %s has no server (expected: its address)".formatted(file, each.getKey()));
      }
      contexts.put(
          each.getKey(),
          new Context(
              server,
              text(context, "namespace"),
              text(context, "token"),
              text(context, "trusted")));
    }
    return new Contexts(text(root, "current"), contexts);
  }

  private static @Nullable String text(JsonNode node, String field) {
    JsonNode value = node.path(field);
    return value.isString() ? value.asString() : null;
  }

  /** Replaces it. */
  public void write(Contexts contexts) {
    ObjectNode root = MAPPER.createObjectNode();
    if (contexts.current() != null) {
      root.put("current", contexts.current());
    }
    ObjectNode all = root.putObject("contexts");
    contexts.contexts().forEach((name, context) -> put(all.putObject(name), context));
    try {
      Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
      Path folder = target.getParent();
      Files.createDirectories(folder);
      Path part = target.resolveSibling(target.getFileName() + ".part");
      Files.deleteIfExists(part);
      try (OutputStream out =
          Channels.newOutputStream(
              Files.newByteChannel(
                  part,
                  EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                  ownersAlone()))) {
        out.write(MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(root));
        out.write('\n');
      }
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, file + ": cannot be written", e);
    }
  }

  private static void put(ObjectNode node, Context context) {
    node.put("server", context.server());
    if (context.namespace() != null) {
      node.put("namespace", context.namespace());
    }
    if (context.token() != null) {
      node.put("token", context.token());
    }
    if (context.trusted() != null) {
      node.put("trusted", context.trusted());
    }
  }

  private static FileAttribute<?>[] ownersAlone() {
    boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return posix
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER)}
        : new FileAttribute<?>[0];
  }
}
