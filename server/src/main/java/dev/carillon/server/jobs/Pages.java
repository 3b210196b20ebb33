package dev.carillon.server.jobs;

import dev.carillon.api.Page;
import dev.carillon.server.json.JsonText;
import java.util.function.BiConsumer;

/** Pages of a list, with what was left out because the store is damaged there. */
public final class Pages {
  private Pages() {}

  /** A page. */
  public static <T> void write(JsonText out, Page<T> page, BiConsumer<JsonText, ? super T> each) {
    out.list("items", page.items(), each).put("next", page.next());
    if (!page.unreadable().isEmpty()) {
      out.texts("unreadable", page.unreadable());
    }
  }
}
