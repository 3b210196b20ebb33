package dev.carillon.browser;

import java.util.ArrayList;
import java.util.List;

/** Texts that want to run. Where one does, it sets {@code window.ran}. */
final class HostileTexts {
  private static final String RUN = "window.ran=1";
  private static final List<String> SHAPES =
      List.of(
          "<script>%s</script>",
          "<SCRIPT SRC=//x>%s</SCRIPT>",
          "</title><script>%s</script>",
          "</textarea><script>%s</script>",
          "<img src=x onerror=%s>",
          "<img src=x onerror='%s'>",
          "<img/src/onerror=%s>",
          "<svg onload=%s>",
          "<svg><script>%s</script></svg>",
          "<svg><animate onbegin=%s attributeName=x>",
          "<body onload=%s>",
          "<iframe src=javascript:%s>",
          "<iframe srcdoc='<script>%s</script>'>",
          "<a href=javascript:%s>x</a>",
          "<details open ontoggle=%s>",
          "<input autofocus onfocus=%s>",
          "<video><source onerror=%s>",
          "<math><mi xlink:href=javascript:%s>",
          "<object data=javascript:%s>",
          "<embed src=javascript:%s>",
          "<link rel=stylesheet href=javascript:%s>",
          "<style>@import 'javascript:%s'</style>",
          "<meta http-equiv=refresh content='0;javascript:%s'>",
          "<form action=javascript:%s><button>",
          "<base href=javascript:%s//>",
          "<template><script>%s</script></template>",
          "\" onmouseover=%s x=\"",
          "' onmouseover=%s x='",
          "\"><script>%s</script>",
          "'><img src=x onerror=%s>",
          "javascript:%s",
          "JaVaScRiPt:%s",
          "data:text/html,<script>%s</script>",
          "${%s}",
          "`${%s}`",
          "{{constructor.constructor('%s')()}}",
          "#{%s}",
          "<%%= %s %%>",
          "-->x<script>%s</script>",
          "]]><script>%s</script>",
          "\\u003cscript\\u003e%s\\u003c/script\\u003e",
          "&lt;script&gt;%s&lt;/script&gt;",
          "&#60;script&#62;%s&#60;/script&#62;",
          "%%3Cscript%%3E%s%%3C/script%%3E",
          "__proto__.%s",
          "constructor[%s]",
          "<x onclick=%s>click",
          "<marquee onstart=%s>",
          "<isindex type=image src=1 onerror=%s>",
          "\u202e<script>%s</script>");

  private HostileTexts() {}

  /** A hundred: each shape plain, and among letters that change direction, size and length. */
  static List<String> all() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < SHAPES.size(); i++) {
      all.add(SHAPES.get(i).formatted(RUN));
      all.add("\u202b\ud83d\udd14" + i + " " + SHAPES.get(i).formatted(RUN) + " \u00e9\u05d0");
    }
    return all;
  }

  /** As a string of JSON. */
  static String json(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
