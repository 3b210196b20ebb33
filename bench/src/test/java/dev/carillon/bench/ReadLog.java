package dev.carillon.bench;

import dev.carillon.store.Journals;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/**
 * Notes which journals are read. Pages of one journal that follow each other, with no other journal
 * between them, are one pass over it. Thread-safe.
 */
final class ReadLog {
  private final Store store;
  private final Map<ShardId, Integer> passes = new HashMap<>();
  private ShardId last;
  private long lastFrom;
  private int reads;

  ReadLog(Store store) {
    Journals journals =
        proxy(
            Journals.class,
            (proxy, method, args) -> {
              if (method.getName().equals("read") && !isRewriting()) {
                read((ShardId) args[0], (long) args[2]);
              }
              return call(store.journals(), method, args);
            });
    this.store =
        proxy(
            Store.class,
            (proxy, method, args) ->
                method.getName().equals("journals") ? journals : call(store, method, args));
  }

  /** Packing and compaction read what they rewrite; that is no part of getting jobs to run. */
  private static boolean isRewriting() {
    return Thread.currentThread().getName().equals("carillon-pack");
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(ReadLog.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object call(Object target, Method method, Object[] args) throws Throwable {
    try {
      return method.invoke(target, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private synchronized void read(ShardId shard, long from) {
    reads++;
    if (!shard.equals(last) || from <= lastFrom) {
      passes.merge(shard, 1, Integer::sum);
    }
    last = shard;
    lastFrom = from;
  }

  /** The store to read from. */
  Store store() {
    return store;
  }

  /** How often each journal was gone through. */
  synchronized Map<ShardId, Integer> passes() {
    return Map.copyOf(passes);
  }

  /** Calls, each for a page. */
  synchronized int reads() {
    return reads;
  }
}
