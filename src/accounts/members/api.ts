/** The functions that members give to other modules. */
export interface MembersApi {
  /** True when an address (its key) is that of a member. @throws UnavailableError */
  isMember(workspaceId: string, addressKey: string): Promise<boolean>;
}
