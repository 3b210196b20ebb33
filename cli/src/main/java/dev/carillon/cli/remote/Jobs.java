package dev.carillon.cli.remote;

import picocli.CommandLine.Command;

/** Jobs: looking at them and changing them. */
@Command(
    name = "jobs",
    header = "Jobs: list them, look at one, change some.",
    subcommands = {
      JobReads.ListJobs.class,
      JobReads.Get.class,
      JobReads.History.class,
      JobReads.Input.class,
      JobReads.Published.class,
      JobReads.Result.class,
      JobReads.Running.class,
      JobReads.Upcoming.class,
      WatchJobs.class,
      JobChanges.Cancel.class,
      JobChanges.Pause.class,
      JobChanges.Resume.class,
      JobChanges.Reschedule.class,
      JobChanges.Prioritise.class,
      JobChanges.Trigger.class,
      JobChanges.Backfill.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon jobs list --state BLOCKED,DEAD",
      "  ./carillon jobs result ID --wait 5m",
      "  ./carillon jobs list --state PAUSED --all | ./carillon jobs resume -",
      "  ./carillon jobs cancel --type mail --queue slow --dry-run"
    })
public final class Jobs extends Group {
  /** The group. */
  public Jobs() {}
}
