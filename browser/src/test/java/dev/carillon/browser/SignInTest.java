package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.TaskType;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.Token;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.http.TlsOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that asks for tokens: typed once, kept where no script reads it, and let go of. */
class SignInTest {
  private static final TaskType<RawPayload> TASK = TaskType.of("task", RawPayload.class);
  private static final double SLOWLY_MILLIS = 30_000;

  private static final String PASSWORD = "secret-of-the-test";

  @TempDir static Path folder;
  private Page page;

  private void signIn(String token) {
    page.getByLabel("Access token").fill(token);
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign in").setExact(true))
        .click();
  }

  private void button(String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .first()
        .click();
  }

  @Test
  void tokenIsTypedOnceAndASessionEndsWithIt() throws Exception {
    try (Chromium chromium = Chromium.start();
        Carillon carillon =
            Carillon.builder().inMemory().closeGrace(Duration.ofMillis(300)).open()) {
      Tokens tokens = new Tokens(carillon.node().sharedRecords(Tokens.AREA));
      ServerOptions options =
          ServerOptions.standard()
              .port(0)
              .stopGrace(Duration.ofMillis(300))
              .access(new ProvenAccess(List.of(new TokenProof(tokens))));
      try (CarillonServer server = CarillonServer.start(carillon, options)) {
        String id =
            carillon
                .schedule(
                    TASK.job(new RawPayload("json", new byte[] {'1'})).in(Duration.ofHours(1)))
                .id()
                .value();
        Tokens.Issued viewer = issue(tokens, Role.VIEWER);
        Tokens.Issued operator = issue(tokens, Role.OPERATOR);
        page = chromium.page();
        page.navigate(
            "http://127.0.0.1:" + server.address().getPort() + "/ui/#/default/jobs/" + id);
        signIn("crl_wrong_token");
        assertThat(page.locator(".signin")).containsText("no token that is valid");
        signIn(viewer.text().text());
        assertThat(page.locator("h1 .state")).containsText("scheduled", slowly());
        assertThat(page.getByRole(AriaRole.BUTTON, named("Cancel"))).hasCount(0);
        assertThat(page.evaluate("document.cookie")).isEqualTo("");
        assertThat(page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"))
            .asString()
            .doesNotContain("crl_");
        page.reload();
        assertThat(page.locator("h1 .state")).containsText("scheduled", slowly());
        button("Sign out");
        signIn(operator.text().text());
        button("Pause");
        page.getByRole(AriaRole.DIALOG)
            .getByRole(
                AriaRole.BUTTON,
                new com.microsoft.playwright.Locator.GetByRoleOptions().setName("Pause"))
            .click();
        assertThat(page.locator("h1 .state")).containsText("paused", slowly());
        Token ended = tokens.revoke(operator.token().id(), "test", Instant.now()).orElseThrow();
        assertThat(ended.end()).isNotNull();
        assertThat(page.locator(".signin"))
            .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(SLOWLY_MILLIS));
      }
      assertThat(chromium.complaints).isEmpty();
    }
  }

  /** The same behind TLS: the cookie is one that the browser sends over TLS alone. */
  @Test
  void sessionIsKeptOverTls() throws Exception {
    Path keys = folder.resolve("keys.p12");
    keytool(keys);
    try (Chromium chromium = Chromium.start();
        Carillon carillon =
            Carillon.builder().inMemory().closeGrace(Duration.ofMillis(300)).open()) {
      Tokens tokens = new Tokens(carillon.node().sharedRecords(Tokens.AREA));
      ServerOptions options =
          ServerOptions.standard()
              .port(0)
              .stopGrace(Duration.ofMillis(300))
              .tls(TlsOptions.pkcs12(keys, PASSWORD))
              .access(new ProvenAccess(List.of(new TokenProof(tokens))));
      try (CarillonServer server = CarillonServer.start(carillon, options)) {
        page = chromium.page();
        page.navigate("https://localhost:" + server.address().getPort() + "/ui/#/default/overview");
        signIn(issue(tokens, Role.OPERATOR).text().text());
        assertThat(page.locator("h1")).containsText("Overview", slowly());
        assertThat(page.locator(".freshness.good")).hasText("live");
        List<Cookie> cookies = page.context().cookies();
        assertThat(cookies).hasSize(1);
        assertThat(cookies.getFirst().secure).isTrue();
        assertThat(cookies.getFirst().httpOnly).isTrue();
        page.reload();
        assertThat(page.locator("h1")).containsText("Overview", slowly());
        button("Sign out");
        assertThat(page.locator(".signin")).isVisible();
        assertThat(page.context().cookies()).isEmpty();
      }
      assertThat(chromium.complaints).isEmpty();
    }
  }

  private static void keytool(Path keys) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-keystore",
                keys.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    assertThat(process.waitFor()).isZero();
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  private static LocatorAssertions.ContainsTextOptions slowly() {
    return new LocatorAssertions.ContainsTextOptions().setTimeout(SLOWLY_MILLIS);
  }

  private static Tokens.Issued issue(Tokens tokens, Role role) {
    return tokens.create(
        new Tokens.Wanted("test", role, Scope.ALL, Scope.ALL, null), "the test", Instant.now());
  }
}
