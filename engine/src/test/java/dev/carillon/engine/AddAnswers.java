package dev.carillon.engine;

import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.request.AddRequest;
import java.util.List;

/** What those heard who asked for jobs to be added, in the order in which they did. */
record AddAnswers(List<JobRef> added, List<CarillonException> refused)
    implements AddRequest.Answer {

  @Override
  public void added(JobRef job, boolean created) {
    added.add(job);
  }

  @Override
  public void refused(CarillonException why) {
    refused.add(why);
  }
}
