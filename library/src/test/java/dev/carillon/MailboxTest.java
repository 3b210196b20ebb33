package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MailboxTest {

  private static final class Numbered extends Event {
    final int sender;
    final int number;

    Numbered(int sender, int number) {
      this.sender = sender;
      this.number = number;
    }

    @Override
    void happen() {}
  }

  @Test
  void everyEventArrivesOnceAndInTheOrderOfItsSender() throws Exception {
    int senders = 6;
    int each = 50_000;
    Mailbox mailbox = new Mailbox(Thread.currentThread());
    List<Thread> threads = new ArrayList<>();
    for (int sender = 0; sender < senders; sender++) {
      int self = sender;
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < each; i++) {
                      mailbox.post(new Numbered(self, i));
                    }
                  }));
    }
    int[] next = new int[senders];
    for (int taken = 0; taken < senders * each; ) {
      Event event = mailbox.poll();
      if (event instanceof Numbered numbered) {
        assertThat(numbered.number).isEqualTo(next[numbered.sender]++);
        taken++;
      } else {
        mailbox.sleep(1_000_000_000L);
      }
    }
    assertThat(mailbox.poll()).isNull();
    assertThat(mailbox.isEmpty()).isTrue();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void sleeperIsWokenByEveryPost() throws Exception {
    int rounds = 20_000;
    CountDownLatch done = new CountDownLatch(1);
    Mailbox[] boxes = new Mailbox[2];
    Thread[] players = new Thread[2];
    for (int i = 0; i < 2; i++) {
      int self = i;
      players[i] =
          Thread.ofPlatform()
              .daemon()
              .unstarted(
                  () -> {
                    for (int round = 0; round < rounds; round++) {
                      while (boxes[self].poll() == null) {
                        boxes[self].sleep(TimeUnit.MINUTES.toNanos(5));
                      }
                      boxes[1 - self].post(new Numbered(self, round));
                    }
                    if (self == 1) {
                      done.countDown();
                    }
                  });
      boxes[i] = new Mailbox(players[i]);
    }
    players[0].start();
    players[1].start();
    boxes[0].post(new Numbered(0, 0));

    assertThat(done.await(50, TimeUnit.SECONDS)).isTrue();
  }
}
