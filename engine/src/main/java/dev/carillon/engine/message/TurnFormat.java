package dev.carillon.engine.message;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.WorkflowTurn;
import java.util.ArrayList;
import java.util.List;

/**
 * What the code of a workflow did, on its way from a borrower to the lender.
 *
 * <pre>
 * entries   varint and so many {@link HistoryEntry}
 * children  varint and so many: varint call, byte keeps, bytes spec
 * </pre>
 */
final class TurnFormat {
  private TurnFormat() {}

  static void write(WorkflowTurn turn, ByteWriter out) {
    out.raw(HistoryEntry.encode(turn.entries())).varint(turn.children().size());
    for (WorkflowTurn.ChildStart child : turn.children()) {
      out.varint(child.call()).u8(child.keeps() ? 1 : 0).bytes(child.spec().encode());
    }
  }

  static WorkflowTurn read(ByteReader in) {
    List<HistoryEntry> entries = HistoryEntry.decode(in);
    int size = in.length();
    List<WorkflowTurn.ChildStart> children = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      int call = (int) in.varint();
      boolean keeps = in.u8() == 1;
      children.add(new WorkflowTurn.ChildStart(call, JobSpec.decode(in.bytes()), keeps, null));
    }
    return new WorkflowTurn(entries, children);
  }
}
