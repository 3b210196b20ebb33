package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.worker.WorkerLook;
import dev.carillon.engine.worker.Workers;
import dev.carillon.gateway.ConnectedWorker;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerGateway;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerListener;
import dev.carillon.gateway.WorkerTake;
import java.time.Duration;
import java.util.List;

/** The workers of a node, for gateways: brings what they say to the loop. Thread-safe. */
final class NodeWorkers implements WorkerGateway {
  private final OpenNode opened;

  NodeWorkers(OpenNode opened) {
    this.opened = opened;
  }

  @Override
  public WorkerConnection connect(WorkerHello hello, WorkerListener listener) {
    Limits.checkPresent("hello", hello);
    Limits.checkPresent("listener", listener);
    opened.requireOpen();
    NodeConnection connection = new NodeConnection(opened, hello.worker(), listener);
    connection.connect(engineHello(hello));
    return connection;
  }

  private static dev.carillon.engine.worker.WorkerHello engineHello(WorkerHello hello) {
    return new dev.carillon.engine.worker.WorkerHello(
        hello.worker(),
        hello.takes().stream()
            .map(
                take ->
                    new dev.carillon.engine.worker.WorkerTake(
                        take.namespace(), take.queue(), take.type(), take.lease().toNanos() / 1000))
            .toList(),
        hello.leaseFirst());
  }

  @Override
  public List<ConnectedWorker> connected() {
    opened.requireOpen();
    List<WorkerLook> looks =
        opened
            .loop
            .post(
                new Ask<List<WorkerLook>>(
                    opened.loop,
                    "looking at the workers",
                    Ask.Effect.READS,
                    (node, asked) -> asked.answer(look(node.workers()))))
            .await();
    return looks.stream().map(NodeWorkers::connected).toList();
  }

  private static List<WorkerLook> look(Workers workers) {
    return workers.look();
  }

  private static ConnectedWorker connected(WorkerLook look) {
    return new ConnectedWorker(
        look.hello().worker(),
        look.hello().takes().stream()
            .map(
                take ->
                    new WorkerTake(
                        take.namespace(),
                        take.queue(),
                        take.type(),
                        Duration.ofNanos(take.leaseMicros() * 1000)))
            .toList(),
        look.room(),
        look.draining(),
        Duration.ofNanos(look.silentNanos()),
        look.runs().stream()
            .map(
                run ->
                    new ConnectedWorker.Running(
                        run.token(),
                        run.type(),
                        Micros.toInstant(run.startedMicros()),
                        run.accepted(),
                        run.leased()))
            .toList());
  }
}
