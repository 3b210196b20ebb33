package dev.carillon.server.access;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The access of a server with authentication: the first kind of proof that a request brings says
 * who asks, and a request without one is not let in. Probes and the description need none.
 */
public final class ProvenAccess implements Access {
  private static final Caller NOBODY = new Nobody();

  private final List<Proof> proofs;

  /**
   * By proofs.
   *
   * @param proofs the kinds that count, in their order; closed with this
   */
  public ProvenAccess(List<Proof> proofs) {
    this.proofs = List.copyOf(proofs);
  }

  @Override
  public Caller identify(Arrival arrival) {
    for (Proof proof : proofs) {
      Optional<Caller> caller = proof.caller(arrival);
      if (caller.isPresent()) {
        return caller.get();
      }
    }
    throw Denied.unknown("Authorization: missing (expected: Bearer crl_ID_SECRET)");
  }

  @Override
  public Caller anyone(Arrival arrival) {
    return NOBODY;
  }

  @Override
  public boolean authenticates() {
    return true;
  }

  @Override
  public void close() {
    proofs.forEach(Proof::close);
  }

  private static final class Nobody implements Caller {
    @Override
    public String name() {
      return "anyone";
    }

    @Override
    public boolean has(Role role, @Nullable String namespace) {
      return role == Role.ANYONE;
    }

    @Override
    public boolean mayUse(@Nullable String namespace, String queue) {
      return false;
    }
  }
}
