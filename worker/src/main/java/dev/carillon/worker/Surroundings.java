package dev.carillon.worker;

import dev.carillon.protocol.FromWorker;

/** What the state of a worker has done for it. All methods return at once; called by the loop. */
interface Surroundings {

  /** Opens a stream to a server; how that went comes back as an event. */
  void open(ServerLink server);

  /** Says something on the open stream. */
  void send(ServerLink server, FromWorker message);

  /** Ends the stream; nothing more of it comes back. */
  void close(ServerLink server, String why);

  /** Calls the handler of an attempt. */
  void start(Run run);

  /** Interrupts the handler of an attempt. */
  void interrupt(Run run);

  /** A number below the bound. */
  long random(long bound);

  /** Tells people. */
  void log(boolean warning, String text);
}
