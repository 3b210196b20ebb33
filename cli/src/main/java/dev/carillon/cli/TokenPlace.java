package dev.carillon.cli;

import dev.carillon.SharedRecords;
import dev.carillon.api.error.StoreLockedException;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.NamedServer;
import dev.carillon.cli.client.ServerAddress;
import dev.carillon.cli.client.ServerFile;
import dev.carillon.cli.client.Surroundings;
import dev.carillon.engine.member.Formats;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.json.Json;
import dev.carillon.server.operate.TokenJson;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Where tokens are changed: in a store, or by one of its servers. */
interface TokenPlace extends AutoCloseable {
  JsonNode create(Tokens.Wanted wanted);

  JsonNode list();

  JsonNode rotate(String id, Duration overlap);

  JsonNode revoke(String id);

  @Override
  void close();

  /** The options that say where. */
  final class Options {
    @Parameters(
        arity = "0..*",
        paramLabel = "[URL] [ID]",
        description =
            "the store: jdbc:sqlite:FILE or jdbc:postgresql://HOST/DATABASE; without it a server is"
                + " asked: that of --server, else of the context; the id of the token, where one is"
                + " meant")
    private List<String> words = new ArrayList<>();

    @Option(names = "--server", paramLabel = "URL", description = "a server of the store")
    private @Nullable String server;

    @Option(
        names = "--context",
        paramLabel = "NAME",
        description = "a server by name, see context; or CARILLON_CONTEXT")
    private String context = "";

    @Option(
        names = "--token-file",
        paramLabel = "FILE",
        description = "holds the token to show the server; else the environment's CARILLON_TOKEN")
    private @Nullable Path tokenFile;

    /** What follows the URL of the store. */
    List<String> rest(int expected, CommandLine command) {
      if (server != null && !context.isEmpty()) {
        throw new ParameterException(command, "--server and --context: both (expected: one)");
      }
      boolean named = server != null || !context.isEmpty();
      if (words.size() != expected && (named || words.size() != 1 + expected)) {
        throw new ParameterException(
            command,
            "arguments: %s (expected: %s%s)"
                .formatted(
                    words,
                    named ? "no URL of a store" : "the URL of the store, or none for a server",
                    expected == 1 ? ", and the id of a token" : ""));
      }
      return words.subList(words.size() - expected, words.size());
    }

    /**
     * Opens it.
     *
     * @param ids how many ids of tokens stand in the arguments
     */
    TokenPlace open(int ids, CommandLine command) {
      if (server != null) {
        return new OnServer(ServerAddress.of("--server", server), token(), null);
      }
      if (words.size() == ids) {
        NamedServer named = NamedServer.of(surroundings(command), context);
        String shown = tokenFile != null ? token() : named.token();
        return new OnServer(named.address(), shown, named.trusted());
      }
      String url = words.getFirst();
      try {
        return new InStore(Formats.shipped().over(Stores.open(StoreAddress.of(url))));
      } catch (StoreLockedException e) {
        URI holder = holder(url);
        if (holder == null) {
          throw e;
        }
        return new OnServer(holder, token(), null);
      }
    }

    private static Surroundings surroundings(CommandLine command) {
      return ((Surroundings.Holder) command.getCommandSpec().root().userObject()).surroundings();
    }

    private @Nullable String token() {
      if (tokenFile == null) {
        return System.getenv("CARILLON_TOKEN");
      }
      try {
        return Files.readString(tokenFile).strip();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The server that has a SQLite file open, as the file beside it says. */
    private static @Nullable URI holder(String url) {
      ServerFile file = ServerFile.of(url);
      return file == null ? null : file.read();
    }
  }

  /** A store that no server needs to run on. */
  record InStore(Store store, Tokens tokens) implements TokenPlace {
    InStore(Store store) {
      this(store, new Tokens(SharedRecords.of(store, Tokens.AREA)));
    }

    private static String me() {
      return "command-line/" + System.getProperty("user.name", "unknown");
    }

    private static JsonNode json(Json.Body body) {
      return OnServer.MAPPER.readTree(Json.object(body));
    }

    private static CommandFailure unknown(String id) {
      return new CommandFailure(
          ExitCode.NOT_FOUND, "token: " + id + " (expected: the id of one that lives)");
    }

    @Override
    public JsonNode create(Tokens.Wanted wanted) {
      Tokens.Issued issued = tokens.create(wanted, me(), Instant.now());
      return json(out -> TokenJson.write(out, issued));
    }

    @Override
    public JsonNode list() {
      return json(out -> out.list("items", tokens.list(), TokenJson::write));
    }

    @Override
    public JsonNode rotate(String id, Duration overlap) {
      Instant now = Instant.now();
      Tokens.Issued issued =
          tokens.rotate(id, now.plus(overlap), now).orElseThrow(() -> unknown(id));
      return json(out -> TokenJson.write(out, issued));
    }

    @Override
    public JsonNode revoke(String id) {
      var token = tokens.revoke(id, me(), Instant.now()).orElseThrow(() -> unknown(id));
      return json(out -> TokenJson.write(out, token));
    }

    @Override
    public void close() {
      store.close();
    }
  }

  /** A server of the store. */
  record OnServer(String base, @Nullable String token, HttpClient http) implements TokenPlace {
    static final JsonMapper MAPPER = new JsonMapper();
    private static final Duration LIMIT = Duration.ofSeconds(30);

    OnServer(URI server, @Nullable String token, @Nullable SSLContext trusted) {
      this(checked(server), token, client(trusted));
    }

    private static HttpClient client(@Nullable SSLContext trusted) {
      HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(LIMIT);
      return (trusted != null ? builder.sslContext(trusted) : builder).build();
    }

    /** Without a token too: a new secret comes back. */
    private static String checked(URI server) {
      ServerAddress.requirePrivate(server, server.toString());
      return server.toString();
    }

    @Override
    public JsonNode create(Tokens.Wanted wanted) {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("name", wanted.name());
      body.put("role", wanted.role().word());
      body.put("namespaces", wanted.namespaces().words());
      body.put("queues", wanted.queues().words());
      if (wanted.expires() != null) {
        body.put("expiresAt", wanted.expires().toString());
      }
      return send("POST", "", body);
    }

    @Override
    public JsonNode list() {
      return send("GET", "", null);
    }

    @Override
    public JsonNode rotate(String id, Duration overlap) {
      return send("POST", "/" + encoded(id) + "/rotate", Map.of("overlap", overlap.toString()));
    }

    @Override
    public JsonNode revoke(String id) {
      return send("POST", "/" + encoded(id) + "/revoke", Map.of());
    }

    private static String encoded(String id) {
      return URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    private JsonNode send(String method, String path, @Nullable Map<String, ?> body) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(base + "/v1/tokens" + path))
              .timeout(LIMIT)
              .header("Content-Type", "application/json")
              .method(
                  method,
                  body == null
                      ? BodyPublishers.noBody()
                      : BodyPublishers.ofString(MAPPER.writeValueAsString(body)));
      if (token != null && !token.isEmpty()) {
        request.header("Authorization", "Bearer " + token);
      }
      try {
        HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() / 100 != 2) {
          throw problem(answer);
        }
        return MAPPER.readTree(answer.body());
      } catch (JacksonException e) {
        throw new CommandFailure(
            ExitCode.FAILED, "server: " + base + " (expected: an answer of Carillon's API)", e);
      } catch (SSLException e) {
        throw new CommandFailure(
            ExitCode.DENIED, "server: " + base + " is not trusted: " + e.getMessage(), e);
      } catch (ConnectException | HttpConnectTimeoutException e) {
        throw new CommandFailure(ExitCode.AWAY, "server: " + base + ": no answer", e);
      } catch (IOException e) {
        throw new CommandFailure(
            method.equals("GET") ? ExitCode.AWAY : ExitCode.UNKNOWN,
            "server: " + base + ": no answer; look at the list before asking again",
            e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandFailure(ExitCode.UNKNOWN, "server: " + base + ": interrupted", e);
      }
    }

    private CommandFailure problem(HttpResponse<String> answer) {
      String type = "";
      String detail = "no answer of Carillon's API";
      try {
        JsonNode json = MAPPER.readTree(answer.body());
        type = json.path("type").asString("");
        detail = json.path("detail").asString(detail);
      } catch (JacksonException e) {
        // not a problem of ours
      }
      return new CommandFailure(
          ExitCode.of(answer.statusCode(), type),
          "%s: %s (%d)".formatted(base, detail, answer.statusCode()));
    }

    @Override
    public void close() {
      http.close();
    }
  }
}
