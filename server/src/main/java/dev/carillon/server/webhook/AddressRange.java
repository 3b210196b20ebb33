package dev.carillon.server.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * A range of addresses, such as 10.20.0.0/16. Immutable.
 *
 * @param network the first address of it
 * @param prefix how many bits all its addresses share
 */
public record AddressRange(InetAddress network, int prefix) {
  private static final List<AddressRange> PRIVATE =
      List.of(
          of("10.0.0.0/8"),
          of("172.16.0.0/12"),
          of("192.168.0.0/16"),
          of("100.64.0.0/10"),
          of("fc00::/7"));

  /**
   * Checks the prefix.
   *
   * @throws IllegalArgumentException if it is no prefix of such an address, or bits behind it are
   *     set
   */
  public AddressRange {
    byte[] bytes = network.getAddress();
    if (prefix < 0 || prefix > bytes.length * 8) {
      throw new IllegalArgumentException(
          "prefix: %d (expected: 0 to %d)".formatted(prefix, bytes.length * 8));
    }
    if (!Arrays.equals(bytes, masked(bytes, prefix))) {
      throw new IllegalArgumentException(
          "range: %s/%d (expected: no bits set behind the prefix)"
              .formatted(network.getHostAddress(), prefix));
    }
  }

  /**
   * Reads one.
   *
   * @param text an address literal, a slash and a number of bits
   * @return the range
   * @throws IllegalArgumentException if it is none
   */
  public static AddressRange of(String text) {
    int slash = text.indexOf('/');
    String literal = slash < 0 ? "" : text.substring(0, slash);
    if (literal.isEmpty() || !isLiteral(literal)) {
      throw invalid(text);
    }
    try {
      int prefix = Integer.parseInt(text.substring(slash + 1));
      return new AddressRange(InetAddress.getByName(literal), prefix);
    } catch (UnknownHostException | NumberFormatException e) {
      throw invalid(text);
    }
  }

  /**
   * Reads a range that a namespace may be allowed.
   *
   * @param text an address literal, a slash and a number of bits
   * @return the range
   * @throws IllegalArgumentException if it is none, or is not within the private ranges
   */
  public static AddressRange ofPrivate(String text) {
    AddressRange range = of(text);
    if (PRIVATE.stream().noneMatch(all -> all.contains(range))) {
      throw new IllegalArgumentException(
          "range: %s (expected: within 10/8, 172.16/12, 192.168/16, 100.64/10 or fc00::/7)"
              .formatted(text));
    }
    return range;
  }

  /** Whether an address is within the private ranges, all of them. */
  static boolean isPrivate(InetAddress address) {
    return PRIVATE.stream().anyMatch(range -> range.contains(address));
  }

  private static IllegalArgumentException invalid(String text) {
    return new IllegalArgumentException(
        "range: \"%s\" (expected: one such as 10.20.0.0/16 or fd12:3456::/32)".formatted(text));
  }

  /** Only digits, dots and colons: nothing is looked up. */
  private static boolean isLiteral(String text) {
    boolean six = text.indexOf(':') >= 0;
    return six
        ? text.chars().allMatch(c -> c == ':' || c == '.' || Character.digit(c, 16) >= 0)
        : text.matches("\\d{1,3}(\\.\\d{1,3}){3}");
  }

  /** Whether an address is in it; one of another family is not. */
  public boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    byte[] own = network.getAddress();
    return bytes.length == own.length && Arrays.equals(own, masked(bytes, prefix));
  }

  private boolean contains(AddressRange range) {
    return range.prefix >= prefix && contains(range.network);
  }

  private static byte[] masked(byte[] bytes, int prefix) {
    byte[] masked = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      int bits = Math.clamp(prefix - 8L * i, 0, 8);
      masked[i] = (byte) (bytes[i] & 0xFF00 >> bits);
    }
    return masked;
  }

  @Override
  public String toString() {
    return network.getHostAddress() + "/" + prefix;
  }
}
