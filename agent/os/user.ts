// Who programs run as.

export type User = {readonly uid: number; readonly gid: number};

export const isSameUser = (one: User, other: User): boolean => one.uid === other.uid && one.gid === other.gid;
