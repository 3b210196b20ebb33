package dev.carillon.server.operate;

import dev.carillon.server.access.Token;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.json.JsonText;

/** Tokens as the API shows them. */
public final class TokenJson {
  private TokenJson() {}

  /** A token with its secret, for its owner. */
  public static void write(JsonText out, Tokens.Issued issued) {
    out.put("secret", issued.text().text()).object("token", inner -> write(inner, issued.token()));
  }

  /** A token without its secrets. */
  public static void write(JsonText out, Token token) {
    out.put("id", token.id())
        .put("name", token.name())
        .put("role", token.role().word())
        .texts("namespaces", token.namespaces().words())
        .texts("queues", token.queues().words())
        .put("createdAt", token.created())
        .put("createdBy", token.createdBy())
        .put("expiresAt", token.expires());
    if (token.secrets().size() > 1) {
      out.put("formerSecretUntil", token.secrets().getLast().until());
    }
    Token.End end = token.end();
    if (end != null) {
      out.put("endedAt", end.at()).put("revokedBy", end.by().isEmpty() ? null : end.by());
    }
  }
}
