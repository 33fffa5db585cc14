"""The drop-in door: ``POST /v1/chat/completions`` and the names of its models, for clients of OpenAI's API.

    request       the body of a request, as the clients send it
    parameters    which standard parameters change nothing here, and which are refused
    messages      the question and the documents of the messages
    stake         what ``metadata`` and policy's [dropin] say of the case
    case          these together as a case
    names         ``gainsay/<format>`` as a model's name, and the models as the client lists them
    answer        the ended debate as a chat completion
    events        the same as a stream of chunks
    endpoint      the routes
    operations    the same as data
    errors        why a chat request is refused
    error_form    every error of these routes in OpenAI's form

A case that comes in here is a case like any other: the same gate, ceiling, roles, limits and records.
"""
