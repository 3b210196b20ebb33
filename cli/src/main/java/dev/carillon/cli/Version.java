package dev.carillon.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of this build. */
final class Version implements IVersionProvider {
  Version() {}

  @Override
  public String[] getVersion() {
    String version = Main.class.getPackage().getImplementationVersion();
    return new String[] {"carillon " + (version == null ? "(from a checkout)" : version)};
  }
}
