package dev.carillon;

import dev.carillon.engine.Node;
import java.util.function.Consumer;

/** Something to do with the node that nobody waits for. */
final class OnNode extends Event {
  private final NodeLoop loop;
  private final Consumer<Node> action;

  OnNode(NodeLoop loop, Consumer<Node> action) {
    this.loop = loop;
    this.action = action;
  }

  @Override
  void happen() {
    action.accept(loop.node());
  }
}
