package dev.carillon.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.WorkersGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A stream that says what a test says, and keeps what it hears. */
final class PlayedStream implements AutoCloseable {
  private static final long SECONDS = 60;

  private final ManagedChannel channel;
  private final ClientCall<FromWorker, FromServer> call;
  private final BlockingQueue<FromServer> heard = new LinkedBlockingQueue<>();
  private final CompletableFuture<Status> end = new CompletableFuture<>();

  private PlayedStream(String address, String token, boolean reads) {
    channel = NettyChannelBuilder.forTarget("dns:///" + address).usePlaintext().build();
    call = channel.newCall(WorkersGrpc.getWorkMethod(), CallOptions.DEFAULT);
    Metadata headers = new Metadata();
    if (token != null) {
      headers.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    }
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(FromServer message) {
            heard.add(message);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        headers);
    if (reads) {
      call.request(Integer.MAX_VALUE);
    }
  }

  static PlayedStream to(String address) {
    return new PlayedStream(address, null, true);
  }

  static PlayedStream to(String address, String token) {
    return new PlayedStream(address, token, true);
  }

  /** One that never reads. */
  static PlayedStream deafTo(String address) {
    return new PlayedStream(address, null, false);
  }

  void say(FromWorker message) {
    call.sendMessage(message);
  }

  /** Waits for a message; others before it are passed over. */
  FromServer await(Predicate<FromServer> wanted) throws InterruptedException {
    FromServer message;
    do {
      message = heard.poll(SECONDS, TimeUnit.SECONDS);
      assertThat(message).as("a message; the stream: " + end.getNow(Status.OK)).isNotNull();
    } while (!wanted.test(message));
    return message;
  }

  Status awaitEnd() throws Exception {
    return end.get(SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    call.cancel("the test is over", null);
    channel.shutdownNow();
  }
}
