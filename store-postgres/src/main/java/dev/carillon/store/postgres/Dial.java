package dev.carillon.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** Makes a new connection to the server, or throws what the server or the way to it says. */
interface Dial {
  Connection connect() throws SQLException;
}
