package dev.carillon;

/**
 * What a node has measured of the jobs of one type, queue and namespace since it started. A node
 * tells 256 values of each apart; the others are together under {@code others}.
 *
 * @param type the name of the type
 * @param queue the queue
 * @param namespace the namespace
 * @param lateness from due time to start, of each attempt
 * @param duration from start to return, of each attempt
 * @param failed attempts that failed
 * @param dead jobs that became dead letters
 */
public record JobFigures(
    String type,
    String queue,
    String namespace,
    Spread lateness,
    Spread duration,
    long failed,
    long dead) {}
