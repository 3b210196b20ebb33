import dev.carillon.testkit.CarillonTest;

/** For members of a class; a method named example is called. */
public final class CLASS {
  // SNIPPET

  public static void run() throws Exception {
    for (var method : CLASS.class.getDeclaredMethods()) {
      if (method.getName().equals("example")) {
        method.setAccessible(true);
        method.invoke(null);
      }
    }
  }
}
