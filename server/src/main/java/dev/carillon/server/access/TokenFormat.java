package dev.carillon.server.access;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The record of a token. What cannot be read, such as the record of a newer version, is no token:
 * nobody is let in by it.
 */
final class TokenFormat {
  private static final int VERSION = 1;
  private static final long NEVER = Long.MIN_VALUE;

  /** By their codes. */
  private static final List<Role> ROLES =
      List.of(Role.ANYONE, Role.VIEWER, Role.SUBMITTER, Role.OPERATOR, Role.ADMIN, Role.WORKER);

  private TokenFormat() {}

  static byte[] write(Token token) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(token.name());
      out.writeByte(ROLES.indexOf(token.role()));
      write(token.namespaces(), out);
      write(token.queues(), out);
      write(token.created(), out);
      out.writeUTF(token.createdBy());
      write(token.expires(), out);
      out.writeByte(token.secrets().size());
      for (Token.Secret secret : token.secrets()) {
        out.writeByte(secret.hash().length);
        out.write(secret.hash());
        write(secret.until(), out);
      }
      Token.End end = token.end();
      write(end != null ? end.at() : null, out);
      out.writeUTF(end != null ? end.by() : "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(Scope scope, DataOutputStream out) throws IOException {
    out.writeByte(scope.all() ? 0 : scope.names().size());
    for (String name : new TreeSet<>(scope.names())) {
      out.writeUTF(name);
    }
  }

  private static void write(@Nullable Instant time, DataOutputStream out) throws IOException {
    out.writeLong(time != null ? time.toEpochMilli() : NEVER);
  }

  static Optional<Token> read(String id, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      if (in.readByte() != VERSION) {
        return Optional.empty();
      }
      String name = in.readUTF();
      Role role = ROLES.get(in.readByte());
      Scope namespaces = scope(in);
      Scope queues = scope(in);
      Instant created = Instant.ofEpochMilli(in.readLong());
      String createdBy = in.readUTF();
      Instant expires = time(in);
      List<Token.Secret> secrets = new ArrayList<>();
      for (int i = in.readByte(); i > 0; i--) {
        byte[] hash = in.readNBytes(in.readByte());
        secrets.add(new Token.Secret(hash, time(in)));
      }
      Instant ended = time(in);
      String by = in.readUTF();
      return Optional.of(
          new Token(
              id,
              name,
              role,
              namespaces,
              queues,
              created,
              createdBy,
              expires,
              secrets,
              ended != null ? new Token.End(ended, by) : null));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private static Scope scope(DataInputStream in) throws IOException {
    int size = in.readByte();
    Set<String> names = new TreeSet<>();
    for (int i = 0; i < size; i++) {
      names.add(in.readUTF());
    }
    return size == 0 ? Scope.ALL : new Scope(false, names);
  }

  private static @Nullable Instant time(DataInputStream in) throws IOException {
    long millis = in.readLong();
    return millis == NEVER ? null : Instant.ofEpochMilli(millis);
  }
}
