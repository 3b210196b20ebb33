package dev.carillon;

import dev.carillon.api.Subscription;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.message.JobNews;
import dev.carillon.engine.request.Questions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Asks the other nodes every half second what happened to their jobs, while somebody listens here.
 * One thread for all listeners; nobody is asked while there is none.
 */
final class ClusterNews {
  private static final long PAUSE_NANOS = Duration.ofMillis(500).toNanos();
  private static final long PATIENCE_NANOS = Duration.ofMillis(700).toNanos();

  private final OpenNode opened;
  private final List<ClusterListener> listeners = new CopyOnWriteArrayList<>();
  private @Nullable Thread asker;

  ClusterNews(OpenNode opened) {
    this.opened = opened;
  }

  /** Tells a listener of the jobs of all nodes, from now on until the answer is closed. */
  Subscription listen(ClusterListener listener) {
    Subscription own = opened.relay.listen(listener);
    if (opened.options.membership() == null) {
      return own;
    }
    synchronized (listeners) {
      listeners.add(listener);
      if (asker == null) {
        asker = Thread.ofVirtual().name("carillon-news").start(this::askWhileListened);
      }
    }
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        listeners.remove(listener);
        own.close();
      }
    };
  }

  private void askWhileListened() {
    Map<String, JobNews.Place> known = new LinkedHashMap<>();
    while (true) {
      synchronized (listeners) {
        if (listeners.isEmpty() || opened.isClosing()) {
          asker = null;
          return;
        }
      }
      boolean more = false;
      try {
        more = ask(known);
      } catch (CarillonException e) {
        // the node closes, or its loop is late: it is asked again
      }
      if (!more) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** True where some node has more to tell already. */
  private boolean ask(Map<String, JobNews.Place> known) {
    Questions.Answers<JobNews> answers =
        opened
            .loop
            .post(
                new Ask<Questions.Answers<JobNews>>(
                    opened.loop,
                    "asking for news",
                    Ask.Effect.READS,
                    (node, asked) ->
                        node.questions().news(Map.copyOf(known), PATIENCE_NANOS, asked::answer)))
            .await();
    boolean more = false;
    for (Map.Entry<String, JobNews> each : answers.of().entrySet()) {
      JobNews news = each.getValue();
      boolean began = known.put(each.getKey(), news.place()) == null;
      if (news.lost() && !began) {
        listeners.forEach(listener -> listener.missed(each.getKey()));
      }
      for (JobNews.Event event : news.events()) {
        listeners.forEach(event::tell);
      }
      more |= news.more();
    }
    known.keySet().removeIf(node -> gone(node, answers));
    return more;
  }

  /** A node that neither answered nor is asked any more. */
  private boolean gone(String node, Questions.Answers<JobNews> answers) {
    boolean gone = !answers.of().containsKey(node) && !answers.silent().contains(node);
    if (gone) {
      listeners.forEach(listener -> listener.missed(node));
    }
    return gone;
  }
}
