package dev.carillon.server.access;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Lets in by the certificate that a client showed while TLS began: its chain was checked then, here
 * its subject says what it may. A certificate of a subject that is not listed proves nothing.
 */
public final class CertificateProof implements Proof {
  private final Map<X500Principal, Grant> bySubject = new HashMap<>();

  /**
   * By subjects.
   *
   * @param bySubject what each may, by its distinguished name: {@code CN=ci,O=Shop}
   * @throws IllegalArgumentException if a name is none
   */
  public CertificateProof(Map<String, Grant> bySubject) {
    bySubject.forEach((name, grant) -> this.bySubject.put(new X500Principal(name), grant));
  }

  @Override
  public Optional<Caller> caller(Arrival arrival) {
    X500Principal subject = arrival.subject();
    Grant grant = subject != null ? bySubject.get(subject) : null;
    return subject != null && grant != null
        ? Optional.of(new CertifiedCaller(subject.getName(), grant))
        : Optional.empty();
  }

  private record CertifiedCaller(String name, Grant grant) implements Caller {
    @Override
    public boolean has(Role role, @Nullable String namespace) {
      return grant.has(role, namespace);
    }

    @Override
    public boolean mayUse(@Nullable String namespace, String queue) {
      return grant.has(grant.role(), namespace);
    }
  }
}
