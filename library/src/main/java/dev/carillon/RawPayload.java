package dev.carillon;

import java.util.Objects;

/**
 * A payload as it is stored, and the codec that wrote it. As the type of an input, a result or a
 * signal it passes payloads on without decoding them: no codec of this process is asked, and what
 * another program reads is what was given here. For servers, copies and connectors.
 *
 * <pre>{@code
 * JobType<RawPayload, RawPayload> any = JobType.of("send-mail", RawPayload.class, RawPayload.class);
 * carillon.schedule(any.job(new RawPayload("json", body)));
 * }</pre>
 *
 * <p>Nobody checks that the bytes are what the codec would have written: a handler that cannot
 * decode them blocks the job as {@code UNDECODABLE}.
 *
 * @param codec the {@linkplain dev.carillon.api.PayloadCodec#name() name} of the codec; {@code
 *     bytes} for an input of type {@code byte[]}; empty where there is no input
 * @param bytes what the codec wrote; not to be changed
 */
public record RawPayload(String codec, byte[] bytes) {

  /** Checks that both are there. */
  public RawPayload {
    Objects.requireNonNull(codec, "codec");
    Objects.requireNonNull(bytes, "bytes");
  }
}
