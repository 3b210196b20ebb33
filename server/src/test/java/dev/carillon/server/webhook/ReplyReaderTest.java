package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers as receivers write them, right, wrong and made up. */
class ReplyReaderTest {
  private static final int MOST = 10;

  private static HttpReply read(String answer) throws IOException {
    byte[] bytes = answer.replace("|", "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    return new ReplyReader(new ByteArrayInputStream(bytes)).read(false, MOST);
  }

  @ParameterizedTest
  @CsvSource({
    "'HTTP/1.1 200 OK|Content-Length: 3||abc', 200, abc, true",
    "'HTTP/1.1 200 OK|Content-Length: 3||abcdef', 200, abc, true",
    "'HTTP/1.1 200 OK|Content-Length: 5||abc', 200, abc, false",
    "'HTTP/1.1 200 OK|Content-Length: 10||0123456789', 200, 0123456789, true",
    "'HTTP/1.1 200 OK|Content-Length: 11||0123456789a', 200, 0123456789, false",
    "'HTTP/1.1 200 OK|Content-Length: x||abc', 200, '', false",
    "'HTTP/1.1 200 OK|Content-Length: -1||abc', 200, '', false",
    "'HTTP/1.1 200 OK||abc', 200, abc, true",
    "'HTTP/1.1 200 OK||0123456789', 200, 0123456789, true",
    "'HTTP/1.1 200 OK||0123456789a', 200, 0123456789, false",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||3|abc|2;x=y|de|0||', 200, abcde, true",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||A|0123456789|0||', 200, 0123456789, true",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||B|0123456789a|0||', 200, 0123456789, false",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||A|0123456789|1|a|0||', 200, 0123456789, false",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||3|abc', 200, abc, false",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||zz|abc', 200, '', false",
    "'HTTP/1.1 200|Transfer-Encoding: chunked||fffffffffffffff|abc', 200, abc, false",
    "'HTTP/1.1 200|Transfer-Encoding: gzip||abc', 200, '', false",
    "'HTTP/1.0 404 No||', 404, '', true",
    "'HTTP/1.1 204 No||abc', 204, '', true",
    "'HTTP/1.1 100 Continue||HTTP/1.1 201 Made|Content-Length: 0||', 201, '', true"
  })
  void answersAreReadAsFarAsTheyGo(String answer, int status, String body, boolean whole)
      throws IOException {
    HttpReply reply = read(answer);
    assertThat(reply.status()).isEqualTo(status);
    assertThat(new String(reply.body(), StandardCharsets.ISO_8859_1)).isEqualTo(body);
    assertThat(reply.whole()).isEqualTo(whole);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "SSH-2.0-OpenSSH_9.9|",
        "HTTP/2 200||",
        "HTTP/1.1 20||",
        "HTTP/1.1 999 X||",
        "HTTP/1.1 200 OK|no colon||",
        "HTTP/1.1 200 OK|Content-Length: 3|Content-Length: 4||abcd",
        "HTTP/1.1 200 OK|Content-Length: 3",
        "HTTP/1.1 101 Switching||",
        "HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 100 C||"
            + "HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 100 C||HTTP/1.1 200 OK||"
      })
  void answersThatAreNoneAreRefused(String answer) {
    assertThatThrownBy(() -> read(answer)).isInstanceOf(IOException.class);
  }

  @Test
  void headThatDoesNotEndIsGivenUp() {
    String line = "X: " + "y".repeat(1000) + "|";
    assertThatThrownBy(() -> read("HTTP/1.1 200 OK|" + line.repeat(100)))
        .hasMessageContaining("32768 bytes");
    assertThatThrownBy(() -> read("HTTP/1.1 200 OK|" + "a:b|".repeat(300)))
        .hasMessageContaining("too many");
  }

  /** Whatever bytes come: an answer, or an IOException, and never more than was asked for. */
  @Test
  void anyBytesEndInAnAnswerOrARefusal() {
    Random random = new Random(20_261_119);
    String alphabet = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "HTTP/1.1 200 OK\r\n" : "");
      int parts = random.nextInt(12);
      for (int j = 0; j < parts; j++) {
        int from = random.nextInt(alphabet.length());
        int to = from + random.nextInt(alphabet.length() - from + 1);
        text.append(alphabet, from, to).append((char) random.nextInt(256));
      }
      try {
        assertThat(read(text.toString()).body().length).isLessThanOrEqualTo(MOST);
      } catch (IOException e) {
        assertThat(e.getMessage()).isNotEmpty();
      }
    }
  }
}
