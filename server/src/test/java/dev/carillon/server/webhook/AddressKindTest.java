package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an address is to a webhook, at both sides of each border. */
class AddressKindTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "168.63.129.15",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "2003::1",
        "3ffe::1",
        "64:ff9b::808:808",
        "2a00::5efe:808:808"
      })
  void addressesOfTheInternetAreGlobal(String host) throws IOException {
    assertThat(AddressKind.of(InetAddress.getByName(host))).isEqualTo(AddressKind.GLOBAL);
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1,PRIVATE",
    "172.31.255.255,PRIVATE",
    "100.64.0.1,PRIVATE",
    "fd12:3456::1,PRIVATE",
    "127.0.0.1,LOOPBACK",
    "::1,LOOPBACK",
    "169.254.169.254,NEVER",
    "100.100.100.200,NEVER",
    "168.63.129.16,NEVER",
    "fd00:ec2::254,NEVER",
    "fe80::1,NEVER",
    "64:ff9b::a00:1,NEVER",
    "::,NEVER",
    "0.0.0.0,NEVER"
  })
  void othersAreOfTheirKind(String host, AddressKind kind) throws IOException {
    assertThat(AddressKind.of(InetAddress.getByName(host))).isEqualTo(kind);
  }

  /** Java unwraps such a literal by itself; a resolver may give the long form. */
  @Test
  void mappedAddressIsWhatItMaps() throws IOException {
    byte[] bytes = new byte[16];
    bytes[10] = -1;
    bytes[11] = -1;
    bytes[12] = 10;
    bytes[15] = 1;
    assertThat(AddressKind.of(Inet6Address.getByAddress("h", bytes, 0)))
        .isEqualTo(AddressKind.PRIVATE);
    bytes[12] = 127;
    assertThat(AddressKind.of(Inet6Address.getByAddress("h", bytes, 0)))
        .isEqualTo(AddressKind.LOOPBACK);
    bytes[12] = 8;
    assertThat(AddressKind.of(Inet6Address.getByAddress("h", bytes, 0)))
        .isEqualTo(AddressKind.GLOBAL);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"169.254.0.0/16", "127.0.0.0/8", "0.0.0.0/0", "8.8.8.0/24", "fe80::/10", "::/0"})
  void onlyPrivateRangesCanBeAllowed(String range) {
    assertThatThrownBy(() -> AddressRange.ofPrivate(range))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("within 10/8");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.1/8", "localhost/8", "10.0.0.0/x", "/8"})
  void rangesThatAreNoneAreRefused(String range) {
    assertThatThrownBy(() -> AddressRange.ofPrivate(range))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected");
  }
}
