package dev.carillon.server.webhook;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * What an address is to a webhook. The ranges are those of the IANA registries of special-purpose
 * addresses; of IPv6 only 2000::/3 is in use by hosts of the Internet, so that all else is refused
 * without a list.
 */
enum AddressKind {
  /** One of the Internet. */
  GLOBAL,
  /** Of a private network: where the namespace may reach that range. */
  PRIVATE,
  /** This host: only for a server without authentication. */
  LOOPBACK,
  /** Link-local, metadata of a cloud, multicast, reserved, a tunnel: never. */
  NEVER;

  /** Where clouds tell a machine its secrets, also in ranges that are otherwise fine. */
  private static final List<AddressRange> METADATA =
      ranges(
          "169.254.0.0/16", // most clouds
          "100.100.100.200/32", // Alibaba
          "168.63.129.16/32", // Azure, a global address
          "192.0.0.192/32", // Oracle
          "fd00:ec2::/32", // AWS
          "fd20:ce::/32", // Google
          "fd00:c1::/32"); // Oracle

  private static final List<AddressRange> NEVER_V4 =
      ranges(
          "0.0.0.0/8",
          "169.254.0.0/16",
          "192.0.0.0/24",
          "192.0.2.0/24",
          "192.88.99.0/24",
          "198.18.0.0/15",
          "198.51.100.0/24",
          "203.0.113.0/24",
          "224.0.0.0/3"); // multicast, reserved, broadcast

  private static final AddressRange LOOPBACK_V4 = AddressRange.of("127.0.0.0/8");
  private static final AddressRange GLOBAL_V6 = AddressRange.of("2000::/3");

  /** Tunnels, whose other end nobody knows, and what is documentation or protocol. */
  private static final List<AddressRange> NEVER_V6 =
      ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

  private static final AddressRange NAT64 = AddressRange.of("64:ff9b::/96");

  private static List<AddressRange> ranges(String... texts) {
    return Arrays.stream(texts).map(AddressRange::of).toList();
  }

  static AddressKind of(InetAddress address) {
    if (in(METADATA, address)) {
      return NEVER;
    }
    return address instanceof Inet4Address ? ofV4(address) : ofV6(address);
  }

  private static AddressKind ofV4(InetAddress address) {
    if (LOOPBACK_V4.contains(address)) {
      return LOOPBACK;
    }
    if (AddressRange.isPrivate(address)) {
      return PRIVATE;
    }
    return in(NEVER_V4, address) ? NEVER : GLOBAL;
  }

  /** An address with one of IPv4 in it is what that one is, or less. */
  private static AddressKind ofV6(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (isMapped(bytes)) {
      return of(v4(bytes, 12));
    }
    if (NAT64.contains(address)) {
      return of(v4(bytes, 12)) == GLOBAL ? GLOBAL : NEVER;
    }
    if (address.isLoopbackAddress()) {
      return LOOPBACK;
    }
    if (AddressRange.isPrivate(address)) {
      return PRIVATE;
    }
    if (!GLOBAL_V6.contains(address) || in(NEVER_V6, address)) {
      return NEVER;
    }
    return isIsatap(bytes) && of(v4(bytes, 12)) != GLOBAL ? NEVER : GLOBAL;
  }

  private static boolean isMapped(byte[] bytes) {
    for (int i = 0; i < 10; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return bytes[10] == -1 && bytes[11] == -1;
  }

  private static boolean isIsatap(byte[] bytes) {
    return (bytes[8] & ~2) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == (byte) 0xfe;
  }

  private static InetAddress v4(byte[] bytes, int from) {
    try {
      return InetAddress.getByAddress(Arrays.copyOfRange(bytes, from, from + 4));
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e); // four bytes are always an address
    }
  }

  private static boolean in(List<AddressRange> ranges, InetAddress address) {
    return ranges.stream().anyMatch(range -> range.contains(address));
  }
}
