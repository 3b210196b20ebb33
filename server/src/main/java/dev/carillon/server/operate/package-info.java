/**
 * What operators ask for: probes, meters, queues, namespaces and the cluster.
 *
 * <p>Probes never wait and need no role. Meters are those of {@code carillon-micrometer}, written
 * as Prometheus reads them.
 *
 * <p>State: the registry of meters.
 */
@NullMarked
package dev.carillon.server.operate;

import org.jspecify.annotations.NullMarked;
