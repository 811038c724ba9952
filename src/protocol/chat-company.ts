/** Who else follows the session that the chat shows, in the editor's language. */
export type ChatCompany = {
  /** Empty where nobody else does. */
  readonly others: string;
  /** Says who has control, where this window only reads; left out where it may control. */
  readonly reading?: string;
};
