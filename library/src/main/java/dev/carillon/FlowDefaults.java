package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.api.Rate;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Limits and rates of queues and namespaces that hold where no operator has set others. */
final class FlowDefaults {
  private final List<Consumer<Node>> settings = new ArrayList<>();

  void limit(FlowSubject.Scope scope, String name, int limit) {
    int checked = OptionChecks.positive("limit", limit);
    add(scope, name, setting -> setting.limit(checked));
  }

  void rate(FlowSubject.Scope scope, String name, Rate rate) {
    Limits.checkPresent("rate", rate);
    add(scope, name, setting -> setting.rate(rate));
  }

  private void add(FlowSubject.Scope scope, String name, UnaryOperator<FlowSetting> change) {
    settings.add(node -> node.standardFlow(new FlowSubject(scope, name), change));
  }

  /** On the loop, once, when the node starts. */
  void applyTo(Node node) {
    settings.forEach(setting -> setting.accept(node));
  }
}
