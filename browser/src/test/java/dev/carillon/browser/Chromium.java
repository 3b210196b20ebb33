package dev.carillon.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Assertions;
import org.opentest4j.TestAbortedException;

/** The machine's own Chromium, and what its pages complained of. */
final class Chromium implements AutoCloseable {
  private static final List<String> PLACES =
      List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome");
  private static final int PATIENCE_MILLIS = 30_000;
  private static final String WATCH =
      """
      document.addEventListener('securitypolicyviolation',
        (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI));
      """;

  final List<String> complaints = new CopyOnWriteArrayList<>();
  private final Playwright playwright;
  private final Browser browser;

  private Chromium(Path executable) {
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
    this.playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    this.browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(executable)
                    .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage")));
  }

  /** Starts it. Where there is none the tests are skipped, or fail where it is required. */
  static Chromium start() {
    Optional<Path> found = PLACES.stream().map(Path::of).filter(Files::isExecutable).findFirst();
    if (found.isPresent()) {
      return new Chromium(found.get());
    }
    String reason = "no Chromium (expected: one of " + PLACES + ")";
    if (List.of("all", "browser").contains(System.getProperty("it.require", ""))) {
      Assertions.fail(reason);
    }
    System.err.println("SKIPPED: " + reason);
    throw new TestAbortedException(reason);
  }

  /** A page in a window of its own, which remembers nothing of others. */
  Page page(int width, ColorScheme colours) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setViewportSize(width, 860)
                .setColorScheme(colours)
                .setIgnoreHTTPSErrors(true) // certificates are made by the tests
                .setTimezoneId("Europe/Berlin")
                .setLocale("en-US"));
    context.addInitScript(WATCH);
    Page page = context.newPage();
    page.setDefaultTimeout(PATIENCE_MILLIS);
    page.onConsoleMessage(
        message -> {
          // The browser itself writes one for each answer that is no 2xx.
          if (message.type().equals("error") && !message.text().startsWith("Failed to load")) {
            complaints.add(message.text());
          }
        });
    page.onPageError(complaints::add);
    page.onDialog(
        dialog -> {
          complaints.add("dialog: " + dialog.message());
          dialog.dismiss();
        });
    return page;
  }

  Page page() {
    return page(1280, ColorScheme.LIGHT);
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}
