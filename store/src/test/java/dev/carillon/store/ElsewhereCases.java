package dev.carillon.store;

/** Cases that a store in one process has nothing to show for; others override them. */
interface ElsewhereCases extends TckCases {

  @Case(id = "T07", title = "two processes of one host have distinct identities")
  default void identitiesAreTheNodes() {
    throw StoreTck.notApplicable("identities are drawn by nodes");
  }

  @Case(id = "T35", title = "a client clock an hour off changes nothing")
  default void noCallReadsAClock() {
    throw StoreTck.notApplicable(
        "no call reads a clock but the one for it: times are numbers that callers pass");
  }

  @Case(id = "T37", title = "an owner stopped, taken over and continued is fenced")
  default void stoppedOwnersNeedASecondProcess() {
    throw StoreTck.notApplicable("one process: nobody can take over; T03 to T05 show the fence");
  }

  @Case(id = "T38", title = "the wall clock jumps")
  default void jumpingClocksAreTheNodes() {
    throw StoreTck.notApplicable("clocks are the node's; shown by the simulator");
  }

  @Case(id = "C06", title = "a changed incarnation is noticed")
  default void incarnationsChangeWhereDataCanGoBack() {
    throw StoreTck.notApplicable(
        "noticing is the node's; embedded, data goes back only while nobody has it open");
  }
}
