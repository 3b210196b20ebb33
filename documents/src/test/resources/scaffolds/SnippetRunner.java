import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Calls the run method of each class and leaves what it printed, or threw, in a file. */
public final class SnippetRunner {
  public static void main(String[] names) throws Exception {
    for (String name : names) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      try {
        Class.forName(name).getMethod("run").invoke(null);
        Files.write(Path.of(name + ".out"), out.toByteArray());
      } catch (InvocationTargetException e) {
        StringWriter trace = new StringWriter();
        e.getCause().printStackTrace(new PrintWriter(trace));
        Files.writeString(Path.of(name + ".error"), trace.toString());
      }
    }
    System.exit(0);
  }
}
