package dev.carillon;

import java.util.List;

/**
 * A node for those who manage it over JMX, as {@code dev.carillon:type=Node,…}. Every attribute is
 * a look at the node of that moment.
 */
public interface CarillonMXBean {

  /**
   * What the node is called.
   *
   * @return its id
   */
  String getNodeId();

  /**
   * Who shares the store.
   *
   * @return a line each: id, incarnation, state and, where it is known, by how much its clock is
   *     ahead of the store's
   */
  List<String> getMembers();

  /**
   * Whose stand-in it is: those whose shards it looks after while they are not there.
   *
   * @return a line each: node id, and how many of the 128 parts of its shards
   */
  List<String> getAssignments();

  /**
   * The nodes that give signs of life, itself among them.
   *
   * @return their ids
   */
  List<String> getActive();

  /**
   * The nodes that stopped or died and may come back.
   *
   * @return their ids
   */
  List<String> getInactive();

  /**
   * Why nothing starts on this node.
   *
   * @return empty where what is due does
   */
  String getHeld();

  /**
   * Shards that it owns.
   *
   * @return how many
   */
  int getShards();

  /**
   * Those of them that another node made: it stands in for it, or has adopted them.
   *
   * @return how many
   */
  int getStandsIn();

  /**
   * Shards that it is making or claiming.
   *
   * @return how many
   */
  int getInClaim();

  /**
   * Shards whose jobs are in memory.
   *
   * @return how many
   */
  int getLoadedShards();

  /**
   * Jobs in memory that have not ended.
   *
   * @return how many
   */
  int getPending();

  /**
   * Jobs that were scheduled through it since it started.
   *
   * @return how many
   */
  long getScheduled();

  /**
   * Jobs that ended on it since, each occurrence of a recurring job among them.
   *
   * @return how many
   */
  long getDelivered();

  /**
   * Attempts under way.
   *
   * @return how many
   */
  int getRunning();

  /**
   * Due jobs that wait for a slot.
   *
   * @return how many
   */
  long getReady();

  /**
   * Due jobs that wait for a handler, or for one that can decode them.
   *
   * @return how many
   */
  long getBlocked();

  /**
   * Operations that wait for the store.
   *
   * @return how many
   */
  long getQueued();

  /**
   * Shards that could not be read and are left alone.
   *
   * @return how many
   */
  int getRefusedShards();

  /**
   * What went wrong with nobody waiting to hear it.
   *
   * @return how often
   */
  long getProblems();
}
