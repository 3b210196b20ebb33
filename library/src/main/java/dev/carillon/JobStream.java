package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.Page;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Jobs page by page: a page is read when the one before is used up. Of one thread. */
final class JobStream implements Iterator<JobInfo> {
  private final Function<JobQuery, Page<JobInfo>> read;
  private @Nullable JobQuery next;
  private Iterator<JobInfo> page = Collections.emptyIterator();

  private JobStream(Function<JobQuery, Page<JobInfo>> read, JobQuery first) {
    this.read = read;
    this.next = first;
  }

  static Stream<JobInfo> of(Function<JobQuery, Page<JobInfo>> read, JobQuery query) {
    int traits = Spliterator.ORDERED | Spliterator.NONNULL;
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(new JobStream(read, query), traits), false);
  }

  @Override
  public boolean hasNext() {
    JobQuery query = next;
    while (!page.hasNext() && query != null) {
      Page<JobInfo> found = read.apply(query);
      page = found.items().iterator();
      String cursor = found.next();
      query = cursor != null ? query.cursor(cursor) : null;
      next = query;
    }
    return page.hasNext();
  }

  @Override
  public JobInfo next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return page.next();
  }
}
