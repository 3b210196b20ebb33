package dev.carillon.worker;

import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.WorkersGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The streams of a worker, each on a connection of its own. Only the loop calls the methods. */
final class GrpcStreams {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int MESSAGE_BYTES = 16 << 20;
  private static final int READ_AHEAD = 32;
  private static final int CONNECT_MILLIS = 5_000;

  private final Options options;
  private final Heard heard;
  private final Map<ServerLink, Stream> open = new HashMap<>();

  /**
   * How to connect.
   *
   * @param tls null for none
   * @param token asked for with each stream; null for none
   */
  record Options(@Nullable SslContext tls, @Nullable Supplier<String> token) {}

  /** What streams bring, from any thread. */
  interface Heard {
    void message(ServerLink server, long stream, FromServer message);

    void ended(ServerLink server, long stream, WorkerCore.Ending ending);
  }

  GrpcStreams(Options options, Heard heard) {
    this.options = options;
    this.heard = heard;
  }

  private record Stream(ManagedChannel channel, ClientCall<FromWorker, FromServer> call) {}

  void open(ServerLink server) {
    long stream = server.stream;
    NettyChannelBuilder builder =
        NettyChannelBuilder.forTarget("dns:///" + server.address)
            .directExecutor()
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .maxInboundMessageSize(MESSAGE_BYTES)
            .disableRetry();
    SslContext tls = options.tls();
    ManagedChannel channel =
        (tls != null ? builder.sslContext(tls) : builder.usePlaintext()).build();
    ClientCall<FromWorker, FromServer> call =
        channel.newCall(WorkersGrpc.getWorkMethod(), CallOptions.DEFAULT);
    open.put(server, new Stream(channel, call));
    Metadata headers = new Metadata();
    Supplier<String> token = options.token();
    if (token != null) {
      headers.put(AUTHORIZATION, "Bearer " + token.get());
    }
    call.start(new Listener(server, stream, call), headers);
    call.request(READ_AHEAD);
  }

  void send(ServerLink server, FromWorker message) {
    Stream stream = open.get(server);
    if (stream != null) {
      stream.call().sendMessage(message);
    }
  }

  void close(ServerLink server, String why) {
    Stream stream = open.remove(server);
    if (stream != null) {
      stream.call().cancel(why, null);
      stream.channel().shutdownNow();
    }
  }

  /** Says nothing more, and lets arrive what was said. */
  void finish(ServerLink server) {
    Stream stream = open.get(server);
    if (stream != null) {
      stream.call().halfClose();
    }
  }

  /** Waits until what was said has left this process, at most for the limit. */
  void awaitEnd(long millis) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (Stream stream : open.values()) {
      var unused = stream.channel().shutdown();
    }
    for (Stream stream : open.values()) {
      long left = Math.max(1, until - System.nanoTime());
      if (!stream.channel().awaitTermination(left, TimeUnit.NANOSECONDS)) {
        var unused = stream.channel().shutdownNow();
      }
    }
    open.clear();
  }

  private final class Listener extends ClientCall.Listener<FromServer> {
    private final ServerLink server;
    private final long stream;
    private final ClientCall<FromWorker, FromServer> call;

    Listener(ServerLink server, long stream, ClientCall<FromWorker, FromServer> call) {
      this.server = server;
      this.stream = stream;
      this.call = call;
    }

    @Override
    public void onMessage(FromServer message) {
      heard.message(server, stream, message);
      call.request(1);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      heard.ended(server, stream, ending(status));
    }
  }

  private static WorkerCore.Ending ending(Status status) {
    boolean refused =
        switch (status.getCode()) {
          case UNAUTHENTICATED, PERMISSION_DENIED, INVALID_ARGUMENT, UNIMPLEMENTED -> true;
          default -> false;
        };
    String why =
        status.getCode() + (status.getDescription() != null ? ": " + status.getDescription() : "");
    Throwable cause = status.getCause();
    return new WorkerCore.Ending(
        cause != null && cause.getMessage() != null ? why + ": " + cause.getMessage() : why,
        refused);
  }
}
