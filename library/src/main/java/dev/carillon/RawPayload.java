package dev.carillon;

/**
 * A payload as it is stored, and the codec that wrote it.
 *
 * @param codec the {@linkplain dev.carillon.api.PayloadCodec#name() name} of the codec; {@code
 *     bytes} for an input of type {@code byte[]}; empty where there is no input
 * @param bytes what the codec wrote; not to be changed
 */
public record RawPayload(String codec, byte[] bytes) {}
