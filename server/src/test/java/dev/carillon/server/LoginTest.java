package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.login.LoginRoutes;
import dev.carillon.server.login.OidcOptions;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.OAuth2Config;
import no.nav.security.mock.oauth2.http.NettyWrapper;
import no.nav.security.mock.oauth2.token.DefaultOAuth2TokenCallback;
import no.nav.security.mock.oauth2.token.OAuth2TokenProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** People sign in with a provider that the test starts, as a browser would lead them. */
class LoginTest {
  private static final String ISSUER = "staff";
  private static final String SHOP = "/v1/namespaces/shop/jobs";

  private MockOAuth2Server provider;
  private ServerFixture fixture;
  private String base;
  private final Browser browser = new Browser();

  @BeforeEach
  void open() throws Exception {
    provider = newProvider();
    provider.start();
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    base = "http://localhost:" + port;
    OidcOptions options =
        new OidcOptions(
            provider.issuerUrl(ISSUER).uri(),
            "carillon",
            "client-secret",
            URI.create(base + OidcOptions.CALLBACK_PATH),
            "groups",
            Map.of("ops", Grant.parse("operator@shop"), "all", Grant.parse("viewer")),
            Duration.ofHours(1));
    fixture =
        ServerFixture.on(
            Carillon.builder().inMemory(),
            carillon -> {
              LoginRoutes login =
                  LoginRoutes.with(options, carillon.node().sharedRecords(LoginRoutes.area()));
              return ServerFixture.OPTIONS
                  .port(port)
                  .login(login)
                  .access(
                      new ProvenAccess(
                          List.of(
                              new TokenProof(
                                  new Tokens(carillon.node().sharedRecords(Tokens.AREA))),
                              login.proof())));
            });
  }

  @AfterEach
  void close() {
    browser.http.close();
    fixture.close();
    provider.shutdown();
  }

  private void signs(String person, Object groups) {
    provider.enqueueCallback(
        new DefaultOAuth2TokenCallback(
            ISSUER,
            person,
            "JWT",
            null,
            Map.of("groups", groups, "email", person + "@shop.example")));
  }

  /** Keeps cookies, follows no redirect by itself. */
  private final class Browser {
    final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final Map<String, String> cookies = new TreeMap<>();

    HttpResponse<String> get(String address) throws Exception {
      return send(request(address).GET());
    }

    HttpRequest.Builder request(String address) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(20));
      if (address.startsWith(base) && !cookies.isEmpty()) {
        request.header(
            "Cookie",
            String.join(
                "; ",
                cookies.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList()));
      }
      return request;
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
      HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
      for (String cookie : answer.headers().allValues("set-cookie")) {
        assertThat(cookie).contains("HttpOnly").contains("SameSite=Lax").contains("Path=/");
        String[] pair = cookie.split(";", 2)[0].split("=", 2);
        cookies.put(pair[0], pair[1]);
      }
      return answer;
    }
  }

  private static String location(HttpResponse<?> answer) {
    assertThat(answer.statusCode()).as("%s %s", answer.uri(), answer.body()).isEqualTo(302);
    return answer.headers().firstValue("location").orElseThrow();
  }

  /** Where the provider sends the browser back to. */
  private String throughTheProvider(String to) throws Exception {
    String provided = location(browser.get(base + "/v1/login" + to));
    assertThat(provided)
        .startsWith(provider.issuerUrl(ISSUER).toString())
        .contains("code_challenge_method=S256")
        .contains("nonce=");
    return location(browser.get(provided));
  }

  /** On Netty: the server that it has otherwise is a rule of JUnit 4. */
  private static MockOAuth2Server newProvider() {
    return new MockOAuth2Server(
        new OAuth2Config(
            false, null, null, false, new OAuth2TokenProvider(), Set.of(), new NettyWrapper()));
  }

  @Test
  void groupsOfThePersonSayWhatTheSessionMay() throws Exception {
    signs("ann", List.of("ops", "something else"));
    String back = throughTheProvider("?to=/v1/namespaces/shop/jobs");
    assertThat(location(browser.get(back))).isEqualTo(SHOP);
    assertThat(browser.get(base + SHOP).statusCode()).isEqualTo(200);
    assertThat(browser.get(base + "/v1/namespaces/billing/jobs").statusCode()).isEqualTo(403);

    HttpRequest.Builder pause =
        browser
            .request(base + "/v1/namespaces/shop/flow/pause")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{}"));
    assertThat(browser.send(pause.copy()).statusCode()).isEqualTo(403);
    assertThat(browser.send(pause.copy().header("Origin", "https://evil.example")).statusCode())
        .isEqualTo(403);
    assertThat(browser.send(pause.copy().header("Origin", base)).statusCode()).isEqualTo(200);
    String audit =
        fixture
            .carillon
            .list(
                dev.carillon.api.JobQuery.all()
                    .namespace("carillon.audit")
                    .meta("operation", "pauseNamespace"))
            .items()
            .toString();
    assertThat(audit).contains("ann@shop.example");
  }

  @Test
  void personWithoutAGroupThatHasARoleIsNotLetIn() throws Exception {
    signs("bob", List.of("sales"));
    HttpResponse<String> answer = browser.get(throughTheProvider(""));
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body()).contains("groups: none of yours has a role here");
    assertThat(browser.get(base + SHOP).statusCode()).isEqualTo(401);
  }

  @Test
  void answerOfTheProviderCountsOnlyWhereTheSignInBegan() throws Exception {
    signs("ann", List.of("ops"));
    String back = throughTheProvider("");
    browser.cookies.clear();
    assertThat(browser.get(back).statusCode()).isEqualTo(403); // another browser
    signs("ann", List.of("ops"));
    String again = throughTheProvider("");
    assertThat(browser.get(again.replaceAll("state=[^&]*", "state=other")).statusCode())
        .isEqualTo(403);
    assertThat(browser.get(again.replaceAll("code=[^&]*", "code=other")).statusCode())
        .isEqualTo(403);
    assertThat(browser.get(base + OidcOptions.CALLBACK_PATH + "?state=x&code=y").statusCode())
        .isEqualTo(403);
    assertThat(browser.get(base + SHOP).statusCode()).isEqualTo(401);
  }

  @Test
  void codeForAnotherVerifierIsRefusedByTheProvider() throws Exception {
    signs("ann", List.of("ops"));
    String code = throughTheProvider("").replaceAll(".*code=([^&]*).*", "$1");
    // The state and verifier of a second sign-in, with the code of the first.
    signs("ann", List.of("ops"));
    String second = throughTheProvider("");
    HttpResponse<String> answer = browser.get(second.replaceAll("code=[^&]*", "code=" + code));
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(browser.cookies).doesNotContainKey("carillon-session");
  }

  @Test
  void nobodyIsSentToAnotherSite() throws Exception {
    for (String to :
        List.of("//evil.example", "https://evil.example", "/%5Cevil.example", "/a%0d%0aX:%20y")) {
      assertThat(browser.get(base + "/v1/login?to=" + to).statusCode()).as(to).isEqualTo(400);
    }
  }

  @Test
  void sessionEndsBySigningOutAndForgedOnesAreNone() throws Exception {
    signs("ann", List.of("all"));
    var unused = location(browser.get(throughTheProvider("")));
    assertThat(browser.get(base + "/metrics").statusCode()).isEqualTo(200);
    String session = browser.cookies.get("carillon-session");
    HttpRequest.Builder logout =
        browser
            .request(base + "/v1/logout")
            .header("Content-Type", "application/json")
            .header("Origin", base)
            .POST(BodyPublishers.ofString("{}"));
    assertThat(browser.send(logout).statusCode()).isEqualTo(204);
    assertThat(browser.cookies).containsEntry("carillon-session", "");
    assertThat(browser.get(base + "/metrics").statusCode()).isEqualTo(401);
    int middle = session.length() / 2;
    char other = session.charAt(middle) == 'A' ? 'B' : 'A';
    browser.cookies.put(
        "carillon-session", session.substring(0, middle) + other + session.substring(middle + 1));
    assertThat(browser.get(base + "/metrics").statusCode()).isEqualTo(401);
    browser.cookies.put("carillon-session", browser.cookies.get("carillon-login"));
    assertThat(browser.get(base + "/metrics").statusCode()).isEqualTo(401);
  }

  @Test
  void providerThatIsAwayIsToldWithoutItsAddress() throws Exception {
    String address = provider.issuerUrl(ISSUER).toString();
    provider.shutdown();
    HttpResponse<String> answer = browser.get(base + "/v1/login");
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body())
        .contains("the provider does not describe itself")
        .doesNotContain(address);
    provider = newProvider();
    provider.start();
  }
}
