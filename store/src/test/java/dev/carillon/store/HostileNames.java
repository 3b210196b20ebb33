package dev.carillon.store;

import java.util.List;

/** Texts that naive quoting, escaping, ordering or file names would stumble over. */
final class HostileNames {

  private HostileNames() {}

  /** Well-formed texts of at most {@code maxBytes} in UTF-8, all different. */
  static List<String> all(int maxBytes) {
    return List.of(
        "",
        " ",
        "a",
        "a ",
        " a",
        "A",
        "a\0",
        "a\0b",
        "\0",
        "../../etc/passwd",
        "..\\..\\windows",
        "/",
        "'",
        "''",
        "\"",
        "`",
        "'; drop table journal; --",
        "a' or '1'='1",
        "%",
        "_",
        "a%",
        "a_",
        "a*",
        "a?",
        "a[b]",
        "\\",
        "\\%",
        "$1 ?1 :name @name",
        "line\nbreak\r\ttab",
        "\u0001\u001b[31m",
        "\u007f",
        "é",
        "e\u0301",
        "ÿ",
        "שלום עולם",
        "\u202eabc",
        "\u200b",
        "\ufeffabc",
        "東京",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\ufffd",
        "🔔",
        "𐀀",
        "\udbff\udfff",
        "null",
        "NULL",
        "0",
        "00",
        "1e3",
        "-1",
        "x".repeat(1_024),
        "ü".repeat(maxBytes / 2));
  }
}
