package dev.carillon.server.work;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.JobId;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * By which a worker speaks of an attempt, to any server: whatever a server has to know of the
 * worker stands in it. That it is the current one only the attempt's random number proves.
 *
 * @param worker the name under which the attempt is leased
 * @param namespace the namespace of the job
 * @param queue its queue
 * @param type its type
 * @param attempt the attempt
 */
record WorkToken(String worker, String namespace, String queue, String type, AttemptToken attempt) {
  private static final int VERSION = 1;
  private static final int LONGEST_TEXT = 4_096;

  /** As it stands in an address. */
  String text() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(worker);
      out.writeUTF(namespace);
      out.writeUTF(queue);
      out.writeUTF(type);
      out.writeUTF(attempt.job().value());
      out.writeLong(attempt.epoch());
      out.writeInt(attempt.attempt());
      out.writeLong(attempt.nonce());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail
    }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.toByteArray());
  }

  /** Reads it. */
  static WorkToken parse(String text) {
    if (text.length() > LONGEST_TEXT) {
      throw invalid(text);
    }
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(Base64.getUrlDecoder().decode(text)))) {
      if (in.readByte() != VERSION) {
        throw invalid(text);
      }
      WorkToken token =
          new WorkToken(
              in.readUTF(),
              in.readUTF(),
              in.readUTF(),
              in.readUTF(),
              new AttemptToken(
                  new JobId(in.readUTF()), in.readLong(), in.readInt(), in.readLong()));
      if (in.read() >= 0) {
        throw invalid(text);
      }
      return token;
    } catch (IOException | IllegalArgumentException e) {
      throw invalid(text);
    }
  }

  private static InvalidBody invalid(String text) {
    return Shape.invalid("token", Shape.quoted(text), "one that takeWork has answered");
  }
}
