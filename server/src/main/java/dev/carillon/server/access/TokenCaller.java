package dev.carillon.server.access;

import org.jspecify.annotations.Nullable;

/** The owner of a token. */
record TokenCaller(Token token) implements Caller {

  @Override
  public String name() {
    return token.caller();
  }

  @Override
  public boolean has(Role role, @Nullable String namespace) {
    return token.role().includes(role)
        && (namespace != null ? token.namespaces().has(namespace) : token.namespaces().all());
  }

  @Override
  public boolean mayUse(@Nullable String namespace, String queue) {
    return (namespace != null ? token.namespaces().has(namespace) : token.namespaces().all())
        && token.queues().has(queue);
  }

  @Override
  public boolean reachesAllQueues() {
    return token.queues().all();
  }
}
