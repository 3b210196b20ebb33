package dev.carillon.store;

/** What UTF-8 would make of a text, without making it. */
final class Utf8 {

  private Utf8() {}

  /**
   * The number of bytes of {@code text}.
   *
   * @throws IllegalArgumentException if it has an unpaired surrogate, which has no bytes
   */
  static int length(String text) {
    int bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < 0x80) {
        continue;
      }
      if (!Character.isSurrogate(unit)) {
        bytes += unit < 0x800 ? 1 : 2;
      } else if (isPair(text, i)) {
        bytes += 2;
        i++;
      } else {
        throw new IllegalArgumentException(
            "text: " + text + " (expected: no unpaired surrogate, as at " + i + ")");
      }
    }
    return bytes;
  }

  private static boolean isPair(String text, int index) {
    return Character.isHighSurrogate(text.charAt(index))
        && index + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(index + 1));
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
