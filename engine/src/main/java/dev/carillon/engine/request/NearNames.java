package dev.carillon.engine.request;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Finds the names that somebody may have meant: those that differ by a few letters. */
final class NearNames {
  private static final int MOST_COMPARED = 300;
  private static final int LONGEST = 80;
  private static final int MOST_NAMED = 3;
  private static final int LETTERS_A_DIFFERENCE = 4;

  private NearNames() {}

  private record Near(String name, int distance) {}

  /** The nearest, nearest first; none where no name is near. */
  static List<String> of(String wanted, Set<String> names) {
    List<Near> near = new ArrayList<>();
    int left = MOST_COMPARED;
    for (String name : names) {
      if (left-- == 0) {
        break;
      }
      int distance = distance(wanted, name);
      int most = Math.max(1, Math.min(wanted.length(), name.length()) / LETTERS_A_DIFFERENCE);
      if (distance <= most) {
        near.add(new Near(name, distance));
      }
    }
    near.sort(Comparator.comparingInt(Near::distance).thenComparing(Near::name));
    return near.stream().limit(MOST_NAMED).map(Near::name).toList();
  }

  /** How many letters differ, whatever their case; many where one is long. */
  private static int distance(String one, String other) {
    if (one.length() > LONGEST || other.length() > LONGEST) {
      return Integer.MAX_VALUE;
    }
    String a = one.toLowerCase(Locale.ROOT);
    String b = other.toLowerCase(Locale.ROOT);
    int[] before = new int[b.length() + 1];
    for (int j = 0; j < before.length; j++) {
      before[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = before[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(before[j], row[j - 1]));
      }
      before = row;
    }
    return before[b.length()];
  }
}
