package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.UnknownFormatException;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class FrameTest {

  @Test
  void whatWasWrittenIsRead() {
    for (long seed = 0; seed < 100; seed++) {
      List<Frame> frames = new RandomOperations(seed).take(20);
      List<Frame> read = Frame.decode(Frame.encode(frames));
      assertThat(read).hasSameSizeAs(frames);
      for (int i = 0; i < frames.size(); i++) {
        assertThat(read.get(i).kind()).isEqualTo(frames.get(i).kind());
        assertThat(read.get(i).job()).isEqualTo(frames.get(i).job());
        assertThat(read.get(i).body()).isEqualTo(frames.get(i).body());
      }
    }
  }

  @Test
  void everyFlippedBitIsNoticed() {
    byte[] entry = Frame.encode(new RandomOperations(4).take(3));
    for (int bit = 0; bit < entry.length * 8; bit++) {
      byte[] damaged = entry.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> Frame.decode(damaged))
          .as("bit %d", bit)
          .isInstanceOfAny(DamagedException.class, UnknownFormatException.class);
    }
  }

  @Test
  void everyCutInsideAFrameIsNoticed() {
    List<Frame> frames = new RandomOperations(5).take(1);
    byte[] entry = Frame.encode(frames);
    for (int length = 1; length < entry.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(entry, length);
      assertThatThrownBy(() -> Frame.decode(cut)).isInstanceOf(DamagedException.class);
    }
  }

  @Test
  void aKindOrVersionOfLaterCodeIsRefusedAndNotSkipped() {
    byte[] entry = Frame.encode(new RandomOperations(6).take(1));
    assertThatThrownBy(() -> Frame.decode(with(entry, 8, 77)))
        .isInstanceOf(UnknownFormatException.class)
        .hasMessageContaining("kind 77");
    assertThatThrownBy(() -> Frame.decode(with(entry, 9, 200)))
        .isInstanceOf(UnknownFormatException.class)
        .hasMessageContaining("version 200");
  }

  /** The entry with one byte changed and its checksum made right again. */
  private static byte[] with(byte[] entry, int at, int value) {
    byte[] changed = entry.clone();
    changed[at] = (byte) value;
    CRC32C crc = new CRC32C();
    crc.update(changed, 8, changed.length - 8);
    Frame.INT.set(changed, 4, (int) crc.getValue());
    return changed;
  }

  @Test
  void anEmptyEntryHasNoFrames() {
    assertThat(Frame.decode(new byte[0])).isEmpty();
  }
}
