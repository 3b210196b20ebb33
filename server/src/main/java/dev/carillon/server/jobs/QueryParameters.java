package dev.carillon.server.jobs;

import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.server.http.Call;
import dev.carillon.server.json.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Which jobs, in the query parameters of an address. */
public final class QueryParameters {
  /** About how long the server may read for a page. */
  static final String WITHIN = "within";

  private static final String META = "meta.";

  private QueryParameters() {}

  /** The names of the parameters that say which jobs; one that ends in a dot is a prefix. */
  public static String[] names() {
    return new String[] {
      "state",
      "type",
      "queue",
      "dueFrom",
      "dueTo",
      "namePrefix",
      "endedFrom",
      "endedTo",
      "occurrencesOf",
      META,
      "newest",
      "limit",
      WITHIN,
      "cursor"
    };
  }

  /** The same where the state is known. */
  static String[] namesButState() {
    return Arrays.stream(names()).filter(name -> !name.equals("state")).toArray(String[]::new);
  }

  /** The query of a request, in its namespace. */
  public static JobQuery of(Call call) {
    JobQuery query =
        JobQuery.all()
            .namespace(call.namespace())
            .states(states(call))
            .limit(call.integer("limit", Limits.PAGE_DEFAULT_ITEMS))
            .within(call.duration(WITHIN, Limits.PAGE_TIME))
            .cursor(call.parameter("cursor"));
    query = with(query, call.parameter("type"), JobQuery::type);
    query = with(query, call.parameter("queue"), JobQuery::queue);
    query = with(query, call.parameter("namePrefix"), JobQuery::namePrefix);
    query = with(query, call.time("dueFrom"), JobQuery::dueFrom);
    query = with(query, call.time("dueTo"), JobQuery::dueTo);
    query = with(query, call.time("endedFrom"), JobQuery::endedFrom);
    query = with(query, call.time("endedTo"), JobQuery::endedTo);
    String recurring = call.parameter("occurrencesOf");
    query = recurring != null ? query.occurrencesOf(new JobId(recurring)) : query;
    for (Map.Entry<String, List<String>> each : call.query().entrySet()) {
      if (each.getKey().startsWith(META)) {
        query =
            query.meta(
                each.getKey().substring(META.length()),
                String.valueOf(call.parameter(each.getKey())));
      }
    }
    return call.flag("newest") ? query.newestFirst() : query;
  }

  private static List<JobState> states(Call call) {
    List<JobState> states = new ArrayList<>();
    for (String each : call.parameters("state")) {
      states.add(Shape.constant("state", JobState.class, each));
    }
    return states;
  }

  private static <T> JobQuery with(
      JobQuery query, @Nullable T value, BiFunction<JobQuery, T, JobQuery> set) {
    return value != null ? set.apply(query, value) : query;
  }
}
