package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.pages.PageRoutes;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the dashboard is made of, and how it is served. What it does: the module browser. */
class PageFilesTest {
  private static final int MOST_BYTES = 250_000;
  private static final Path FOLDER = Path.of("src/main/resources/dev/carillon/server/pages");

  /** As the npm registry has them: htm 3.1.1, uplot 1.6.32. */
  private static final Map<String, String> VENDORED =
      Map.of(
          "vendor-preact-htm.js",
          "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
          "vendor-uplot.js",
          "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
          "vendor-uplot.css",
          "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04");

  /** Ways to make HTML, styles or code out of strings, and places elsewhere. */
  private static final Pattern FORBIDDEN =
      Pattern.compile(
          "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|dangerouslySet|\\beval\\b"
              + "|new Function|setTimeout\\([\"'`]|srcdoc|DOMParser|createContextualFragment"
              + "|javascript:|https?://(?!www\\.w3\\.org/2000/svg)|\\bTODO\\b");

  @Test
  void listNamesWhatIsInTheFolderWithinItsSize() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<Path> all = files.toList();
      assertThat(all.stream().map(each -> each.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(PageRoutes.FILES);
      long bytes = 0;
      for (Path each : all) {
        bytes += each.toString().endsWith(".LICENSE") ? 0 : Files.size(each); // beside them
      }
      assertThat(bytes).isLessThan(MOST_BYTES);
    }
  }

  @Test
  void vendoredFilesAreThoseOfTheRegistryWithTheirLicences() throws Exception {
    for (Map.Entry<String, String> each : VENDORED.entrySet()) {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest(Files.readAllBytes(FOLDER.resolve(each.getKey())));
      assertThat(HexFormat.of().formatHex(hash)).as(each.getKey()).isEqualTo(each.getValue());
    }
    assertThat(FOLDER.resolve("vendor-preact-htm.LICENSE"))
        .content()
        .contains("Apache License", "The MIT License", "Preact");
    assertThat(FOLDER.resolve("vendor-uplot.LICENSE")).content().contains("The MIT License");
  }

  @Test
  void ownFilesMakeNoHtmlAndNoCodeOutOfStrings() throws IOException {
    for (String name : PageRoutes.FILES) {
      if (!name.startsWith("vendor-")) {
        String text = Files.readString(FOLDER.resolve(name));
        assertThat(FORBIDDEN.matcher(text).results().map(found -> name + ": " + found.group()))
            .isEmpty();
      }
    }
    String index = Files.readString(FOLDER.resolve("index.html"));
    assertThat(index)
        .doesNotContainPattern("<script(?![^>]* src=)")
        .doesNotContain("style=", "onload", "onerror");
  }

  @Test
  void pagesAreServedLockedAndRelative() throws IOException {
    try (ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory())) {
      ApiClient.Reply root = fixture.client.get("/").expect(302);
      assertThat(root.whole().headers().firstValue("location")).hasValue("ui/");
      ApiClient.Reply page = fixture.client.get("/ui/").expect(200);
      HttpHeaders headers = page.whole().headers();
      assertThat(headers.firstValue("content-security-policy").orElseThrow())
          .startsWith("default-src 'none'; script-src 'self';")
          .contains("frame-ancestors 'none'", "require-trusted-types-for 'script'")
          .doesNotContain("unsafe", "*", "http");
      assertThat(headers.firstValue("x-frame-options")).hasValue("DENY");
      assertThat(headers.firstValue("x-content-type-options")).hasValue("nosniff");
      for (String name : PageRoutes.FILES) {
        ApiClient.Reply file = fixture.client.get("/ui/" + name).expect(200);
        try (InputStream in = PageRoutes.class.getResourceAsStream(name)) {
          assertThat(file.body()).isEqualTo(in.readAllBytes());
        }
        String tag = file.whole().headers().firstValue("etag").orElseThrow();
        fixture
            .client
            .send(fixture.client.request("/ui/" + name).header("If-None-Match", tag).GET().build())
            .expect(304);
      }
      fixture.client.get("/ui/openapi.yaml").expect(404);
      fixture.client.get("/ui/..%2Fopenapi.yaml").expect(404);
      assertThat(new String(page.body(), StandardCharsets.UTF_8))
          .doesNotContainPattern("(src|href)=\"/");
    }
  }

  @Test
  void callerIsToldWhatItMay() {
    try (ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory())) {
      assertThat(fixture.client.get("/v1/namespaces/default/access").expect(200).json().toString())
          .isEqualTo(
              "{\"caller\":\"local\",\"role\":\"admin\",\"everywhere\":\"admin\",\"allQueues\":true}");
    }
  }
}
