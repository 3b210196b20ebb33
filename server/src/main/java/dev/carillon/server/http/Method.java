package dev.carillon.server.http;

/** The methods of the API. */
public enum Method {
  /** Looks. */
  GET,
  /** Asks for something to be done. */
  POST,
  /** Sets something, whatever it was before. */
  PUT,
  /** Takes something away. */
  DELETE;

  /** Whether it changes nothing. */
  public boolean reads() {
    return this == GET;
  }
}
