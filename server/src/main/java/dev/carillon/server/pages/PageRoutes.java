package dev.carillon.server.pages;

import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The dashboard's files. They hold no data, so anyone may load them; what they ask the API for
 * needs a role. Addresses in them are relative: they work below any prefix that a proxy puts in
 * front.
 */
public final class PageRoutes {
  /** What the dashboard is made of. */
  public static final List<String> FILES =
      List.of(
          "index.html",
          "style.css",
          "app.js",
          "api.js",
          "live.js",
          "parts.js",
          "dialogs.js",
          "format.js",
          "figures.js",
          "charts.js",
          "verdict.js",
          "overview.js",
          "query.js",
          "jobs.js",
          "job.js",
          "schedules.js",
          "dead.js",
          "queues.js",
          "nodes.js",
          "map.js",
          "heat.js",
          "admin.js",
          "palette.js",
          "icon.svg",
          "vendor-preact-htm.js",
          "vendor-preact-htm.LICENSE",
          "vendor-uplot.js",
          "vendor-uplot.css",
          "vendor-uplot.LICENSE");

  /**
   * What a page may do. Nothing from elsewhere is loaded, nothing inline runs, and the browser
   * itself refuses to make HTML or scripts out of strings.
   */
  public static final String POLICY =
      String.join(
          "; ",
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self'",
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
          "trusted-types 'none'");

  private static final String INDEX = "index.html";
  private static final String BASE = "ui/";
  private static final int TAG_BYTES = 8;

  private record Page(String contentType, byte[] bytes, String tag) {}

  private final Map<String, Page> pages = new TreeMap<>();

  /** Reads the files. */
  public PageRoutes() {
    FILES.forEach(name -> pages.put(name, page(name)));
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("goToDashboard", "/", Role.ANYONE, call -> moved()),
        Route.get("getDashboard", "/" + BASE, Role.ANYONE, call -> answer(call, INDEX)),
        Route.get(
            "getDashboardFile",
            "/" + BASE + "{file}",
            Role.ANYONE,
            call -> answer(call, call.variable("file"))));
  }

  private static Answer moved() {
    return Answer.empty(302).header("Location", BASE);
  }

  private Answer answer(Call call, String name) {
    Page page = pages.get(name);
    if (page == null) {
      throw Call.notFound("path: no such page");
    }
    boolean known = page.tag().equals(call.header("if-none-match"));
    Answer answer = known ? Answer.empty(304) : Answer.bytes(page.contentType(), page.bytes());
    return answer
        .header("ETag", page.tag())
        .header("Cache-Control", "no-cache") // asked for each time, sent where it changed
        .header("Content-Security-Policy", POLICY)
        .header("X-Frame-Options", "DENY")
        .header("Referrer-Policy", "no-referrer")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin");
  }

  private static Page page(String name) {
    try (InputStream in = PageRoutes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " (expected: a resource of the server)");
      }
      byte[] bytes = in.readAllBytes();
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      String tag = '"' + HexFormat.of().formatHex(Arrays.copyOf(hash, TAG_BYTES)) + '"';
      return new Page(contentType(name), bytes, tag);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String contentType(String name) {
    return switch (name.substring(name.lastIndexOf('.') + 1)) {
      case "html" -> "text/html; charset=utf-8";
      case "js" -> "text/javascript; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> "text/plain; charset=utf-8";
    };
  }
}
