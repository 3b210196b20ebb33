package dev.carillon.store;

/** What UTF-8 would make of a text, without making it. */
final class Utf8 {

  private Utf8() {}

  /** The number of bytes of {@code text}, which must be well formed. */
  static int length(String text) {
    int bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit >= 0x80) {
        // Two units of a surrogate pair are four bytes, two for each.
        bytes += unit < 0x800 || Character.isSurrogate(unit) ? 1 : 2;
      }
    }
    return bytes;
  }

  /** Compares as the bytes do, which is the order of code points and not that of chars. */
  static int compare(String left, String right) {
    int shared = Math.min(left.length(), right.length());
    for (int i = 0; i < shared; i++) {
      char a = left.charAt(i);
      char b = right.charAt(i);
      if (a != b) {
        return rank(a) - rank(b);
      }
    }
    return left.length() - right.length();
  }

  /** Moves surrogates, which stand for the highest code points, behind all other chars. */
  private static int rank(char unit) {
    return Character.isSurrogate(unit) ? unit + 0x10000 : unit;
  }
}
