package dev.carillon.server;

import dev.carillon.Carillon;

/** A process that serves a store until it is killed. It says on which port. */
final class ServingChild {
  private ServingChild() {}

  public static void main(String[] args) throws Exception {
    Carillon carillon = Carillon.builder().url(args[0]).open();
    CarillonServer server = CarillonServer.start(carillon, ServerFixture.OPTIONS);
    System.out.println(server.address().getPort());
    System.out.flush();
    while (System.in.read() >= 0) {
      Thread.onSpinWait();
    }
    server.close();
    carillon.close();
  }
}
